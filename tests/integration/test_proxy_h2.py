# SPDX-License-Identifier: Apache-2.0
"""Backends that speak HTTP/2: what they get, what clients get, and how connections are shared and replaced."""

import contextlib
import signal
import time

import pytest

from harness import executable, http, process
from harness.backend import Backend, configured, proxy
from harness.client import eventually, free_port
from harness.content import noise
from harness.h2_backend import (INITIAL_WINDOW_SIZE, MAX_CONCURRENT_STREAMS, H2Backend, Orderly, at_once, settings)
from harness.http2 import (CANCEL, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, NO_ERROR, PADDED, PING, PRIORITY,
                           PUSH_PROMISE, REFUSED_STREAM, RST_STREAM, SETTINGS, WINDOW_UPDATE, Frames, H2Socket, frame)

BIG = noise(300_000)
ONE = "Workers 1\n"
PLAIN = pytest.mark.skipif(process.is_sanitized(), reason="a sanitizer keeps freed memory")


def front(entry, *backends, server=ONE, plugins=(), **kwargs):
    """What start() takes for a proxy before them, whose clients may speak HTTP/2."""
    if not executable.plugin("http2"):
        pytest.skip("this build has no such plugin")
    places = [b if isinstance(b, str) else b.address for b in backends]
    return configured(entry, *places[:-1], f"{places[-1]} h2c", plugins=("http2", *plugins),
                      server=f"Listen 127.0.0.1:0 h2\n{server}", **kwargs)


@contextlib.contextmanager
def client(server, protocol="h1"):
    with server.connect() as connection:
        if protocol == "h2":
            connection.sock = H2Socket(connection.sock)
        yield connection


@pytest.fixture(params=["h1", "h2"], name="protocol")
def fixture_protocol(request):
    return request.param


def frames(server, **kwargs):
    return Frames(("127.0.0.1", server.port), **kwargs)


# ---- requests and answers ----

def test_a_request_and_its_answer(start, protocol):
    """RFC 9113 section 8.1; the second one takes the same connection."""
    with Orderly() as backend:
        server = start(**front("", backend))
        with client(server, protocol) as c:
            for n in range(3):
                answer = c.request(f"/{n}?q")
                assert (answer.status, answer.body) == (200, b"ok")
        assert [q.path for q in backend.requests] == ["/0?q", "/1?q", "/2?q"]
        assert backend.connections == 1


def test_head(start, protocol):
    """Content-Length is that of GET's answer (RFC 9110 section 8.6), and no body follows."""
    with Orderly(lambda q: (200, [("content-length", "1234")], b"", [])) as backend:
        server = start(**front("", backend))
        with client(server, protocol) as c:
            for _ in range(2):
                answer = c.request("/", "HEAD")
                assert answer.status == 200 and answer.header("content-length") == "1234"
        assert backend.connections == 1 and not backend.resets


@pytest.mark.parametrize("fields", [{}, {"Transfer-Encoding": "chunked"}])
def test_a_body_each_way(start, fields):
    """With and without a length (RFC 9113 section 8.1.1)."""
    with Orderly() as backend:
        server = start(**front("", backend))
        with client(server) as c:
            for body in (b"x", BIG):
                sent = http.chunked(body[:7], body[7:]) if fields and len(body) > 7 else http.chunked(body) if fields else body
                answer = c.request("/", "POST", headers=fields, body=sent)
                assert answer.status == 200 and answer.body == body
        lengths = [q.get("content-length") for q in backend.requests]
        assert lengths == ([None, None] if fields else ["1", str(len(BIG))])
        assert not any(q.get("transfer-encoding") for q in backend.requests)


def test_an_empty_body(start, protocol):
    """HEADERS with END_STREAM (RFC 9113 section 8.1)."""
    with H2Backend() as backend:
        server = start(**front("", backend))
        with client(server, protocol) as c:
            assert c.request("/", "POST", headers={"Content-Length": "0"}).status == 200
        assert [f.kind for f in backend.peers[0].seen if f.stream] == [HEADERS]
        assert backend.requests[0].get("content-length") == "0"


def test_an_empty_body_in_chunks(start):
    with H2Backend() as backend:
        server = start(**front("", backend))
        with client(server) as c:
            assert c.request("/", "POST", headers={"Transfer-Encoding": "chunked"}, body=http.chunked()).status == 200
        assert backend.requests[0].is_whole and backend.requests[0].body == b""


@pytest.mark.parametrize("status", [204, 304, 205])
def test_answers_without_a_body(start, protocol, status):
    """RFC 9110 sections 15.3.5, 15.4.5."""
    with Orderly(lambda q: (status, [("etag", '"a"')], b"", [])) as backend:
        server = start(**front("", backend))
        with client(server, protocol) as c:
            for _ in range(2):
                answer = c.request("/")
                assert (answer.status, answer.body) == (status, b"")
        assert backend.connections == 1


@pytest.mark.parametrize("status", [200, 204])
def test_an_end_in_a_frame_of_its_own(start, protocol, status):
    """An empty DATA frame with END_STREAM (RFC 9113 section 6.1)."""
    def each(peer, request):
        peer.send(peer.reply(request.stream, status))
        peer.send(frame(DATA, END_STREAM, request.stream))

    with H2Backend(each=each) as backend:
        server = start(**front("", backend))
        with client(server, protocol) as c:
            for _ in range(2):
                assert c.request("/").status == status
        assert backend.connections == 1


def test_many_cookies_are_one(start):
    """RFC 9113 section 8.2.3."""
    with Orderly() as backend:
        server = start(**front("", backend))
        with frames(server) as c:
            c.send(c.head(1, "/", fields=[("cookie", "a=1"), ("cookie", "b=2")]))
            assert c.answer(1) == (200, b"ok")
        assert "; ".join(backend.requests[0].all("cookie")) == "a=1; b=2"


def test_what_a_backend_sees(start, protocol):
    """Names in lower case, pseudo-header fields, and nothing of a connection of HTTP/1 (RFC 9113 sections 8.2, 8.3.1)."""
    with H2Backend() as backend:
        server = start(**front("", backend))
        with client(server, protocol) as c:
            c.request("/a?b", host="app.example:81", headers={
                "Connection": "keep-alive, X-Hop", "Keep-Alive": "3", "X-Hop": "1", "X-Kept": "Yes", "Proxy-Connection": "x"}
                if protocol == "h1" else {"X-Kept": "Yes"})
        seen = backend.requests[0]
        names = [name for name, _ in seen.fields]
        assert names[:4] == [":method", ":scheme", ":authority", ":path"]
        assert [value for _, value in seen.fields[:4]] == ["GET", "http", "app.example:81", "/a?b"]
        assert all(name == name.lower() for name in names)
        assert not {"host", "connection", "keep-alive", "x-hop", "proxy-connection", "transfer-encoding", "upgrade"} & set(names)
        assert seen.get("x-kept") == "Yes"
        assert seen.get("x-forwarded-for") == "127.0.0.1" and seen.get("x-forwarded-proto") == "http"
        assert seen.get("x-forwarded-host") == "app.example:81"


@pytest.mark.parametrize("host", ["client", "server", "other.example"])
def test_authority_is_what_host_says(start, host):
    """RFC 9113 section 8.3.1: as Host would be."""
    with H2Backend() as backend:
        server = start(**front(f"Host {host}", backend))
        assert server.request("/", host="app.example").status == 200
        expected = {"client": "app.example", "server": backend.address}.get(host, host)
        assert backend.requests[0].get(":authority") == expected and backend.requests[0].get("host") is None


def test_an_upgrade_is_not_passed_on(start):
    """HTTP/2 has no Upgrade (RFC 9113 section 8.6)."""
    with H2Backend() as backend:
        server = start(**front("", backend))
        with client(server) as c:
            answer = c.request("/", headers={"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                                             "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="})
            assert answer.status == 200 and answer.body == b"ok"
            assert c.request("/").status == 200
        assert backend.requests[0].get("upgrade") is None


def test_an_answer_with_fields_of_http1(start, protocol):
    """They make it malformed (RFC 9113 section 8.2.2)."""
    with H2Backend(each=lambda p, q: p.answer(q.stream, fields=[("connection", "close")])) as backend:
        server = start(**front("", backend))
        with client(server, protocol) as c:
            assert c.request("/").status == 502


# ---- interim answers, expectations ----

def test_interim_answers(start, protocol):
    """RFC 9110 section 15.2, RFC 8297."""
    def each(peer, request):
        peer.send(peer.reply(request.stream, 103, [("link", "</a.css>; rel=preload")]),
                  peer.reply(request.stream, 103, [("link", "</b.css>; rel=preload")]))
        peer.answer(request.stream, b"done", fields=[("x-a", "1")])

    with H2Backend(each=each) as backend:
        server = start(**front("", backend))
        with client(server) as c:
            answer = c.request("/")
            assert (answer.status, answer.body, answer.header("x-a")) == (200, b"done", "1")
            assert [i.status for i in answer.interim] == [103, 103]
            assert answer.interim[1].header("link") == "</b.css>; rel=preload"
        with frames(server) as c:
            c.send(c.head(1))
            statuses = [c.until(HEADERS).fields[b":status"] for _ in range(3)]
            assert statuses == [b"103", b"103", b"200"]


def test_too_many_interim_answers(start):
    def each(peer, request):
        for _ in range(40):
            peer.send(peer.reply(request.stream, 103))
        peer.answer(request.stream)

    with H2Backend(each=each) as backend:
        assert start(**front("", backend)).request("/").status == 502


def test_100_continue(start):
    """With RequestBuffering off the body waits for the backend's word (RFC 9110 section 10.1.1)."""
    def serve(peer):
        request = peer.request(whole=False)
        assert not request.body
        peer.send(peer.reply(request.stream, 100))
        assert peer.until_true(lambda: request.is_whole)
        peer.answer(request.stream, request.body)
        peer.drain()

    with H2Backend(serve) as backend:
        server = start(**front("RequestBuffering off", backend))
        with client(server) as c:
            c.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
            assert b"100" in c.stream.line()
            assert c.stream.line().strip() == b""
            c.send("hello")
            answer = c.response("POST")
            assert answer.status == 200 and answer.body == b"hello"


def test_417_instead_of_100(start):
    def serve(peer):
        request = peer.request(whole=False)
        peer.answer(request.stream, b"no", status=417)
        peer.drain()

    with H2Backend(serve) as backend:
        server = start(**front("RequestBuffering off", backend))
        with client(server) as c:
            c.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
            assert c.response("POST").status == 417
        assert eventually(lambda: backend.peers[0].resets == {1: CANCEL} or 1 in backend.peers[0].resets)


def test_an_early_answer(start, protocol):
    """
    While the client still sends: the answer is passed on, then the stream is reset, and the connection carries the next request (RFC 9113
    section 8.1).
    """
    def serve(peer):
        first = peer.request(whole=False)
        peer.answer(first.stream, b"enough", status=413)
        second = peer.request()
        assert second, "the connection was closed"
        peer.answer(second.stream, b"next")
        peer.drain()

    with H2Backend(serve) as backend:
        server = start(**front("RequestBuffering off", backend))
        with frames(server) as c:
            c.send(c.head(1, "/", "POST", fields=[("content-length", "100000")], end=False), frame(DATA, 0, 1, b"x" * 1000))
            assert c.answer(1) == (413, b"enough")
            assert eventually(lambda: 1 in backend.peers[0].resets)
        with client(server, protocol) as c:
            assert c.request("/").body == b"next"
        assert backend.connections == 1


@pytest.mark.parametrize("code", [NO_ERROR, CANCEL])
def test_an_early_answer_and_a_reset_by_the_backend(start, code):
    """RST_STREAM with NO_ERROR after a whole answer is no failure (RFC 9113 section 8.1)."""
    def serve(peer):
        first = peer.request(whole=False)
        peer.answer(first.stream, b"enough")
        peer.reset_stream(first.stream, code)
        peer.answer(peer.request().stream, b"next")
        peer.drain()

    with H2Backend(serve) as backend:
        server = start(**front("RequestBuffering off", backend))
        with frames(server) as c:
            c.send(c.head(1, "/", "POST", fields=[("content-length", "100000")], end=False), frame(DATA, 0, 1, b"x" * 1000))
            assert c.answer(1) == (200, b"enough")
        assert server.request("/").body == b"next"
        assert backend.connections == 1


# ---- trailers ----

def test_trailers_of_an_answer(start):
    """RFC 9113 section 8.1, RFC 9110 section 6.5: to clients who said that they take them."""
    with Orderly(lambda q: (200, [("trailer", "x-sum")], b"body", [("x-sum", "7")])) as backend:
        server = start(**front("", backend))
        with client(server) as c:
            answer = c.request("/", headers={"TE": "trailers", "Connection": "TE"})
            assert answer.body == b"body" and ("x-sum", "7") in [(n.lower(), v) for n, v in answer.trailers]
            assert not c.request("/").trailers
        with frames(server) as c:
            c.send(c.head(1, fields=[("te", "trailers")]))
            c.until(HEADERS)
            last = c.until(HEADERS)
            assert last.fields == {b"x-sum": b"7"} and last.flags & END_STREAM


def test_trailers_without_a_body(start):
    with Orderly(lambda q: (200, [], b"", [("x-sum", "7")])) as backend:
        server = start(**front("", backend))
        with client(server) as c:
            assert c.request("/", headers={"TE": "trailers", "Connection": "TE"}).status == 200
            assert c.request("/").status == 200
        assert backend.connections == 1


def test_trailers_of_a_request(start):
    with Orderly() as backend:
        server = start(**front("", backend))
        with client(server) as c:
            answer = c.request("/", "POST", headers={"Transfer-Encoding": "chunked", "Trailer": "X-Sum"},
                               body=b"3\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n")
            assert answer.body == b"abc"
        assert backend.requests[0].trailers == [("x-sum", "7")]


# ---- windows ----

def test_a_backend_with_a_window_of_a_byte(start):
    """INITIAL_WINDOW_SIZE 1, then WINDOW_UPDATE (RFC 9113 section 6.9); until the settings come, the window is 65535."""
    def serve(peer):
        peer.answer(peer.request().stream)
        request = peer.request(whole=False)
        peer.until_true(lambda: request.body)
        assert request.body == BIG[:1]
        for _ in range(3):
            size = len(request.body)
            peer.open(request.stream, 1)
            assert peer.until_true(lambda: len(request.body) > size) and len(request.body) == size + 1
        peer.open(request.stream, 1 << 20)
        peer.open(0, 1 << 20)
        assert peer.until_true(lambda: request.is_whole)
        peer.answer(request.stream, b"%d" % (request.body == BIG))
        peer.drain()

    with H2Backend(serve, payload=settings(INITIAL_WINDOW_SIZE=1), opens=False) as backend:
        server = start(**front("RequestBuffering off", backend))
        assert server.request("/").body == b"ok"
        answer = server.request("/", "POST", body=BIG)
        assert (answer.status, answer.body) == (200, b"1")


def test_a_window_that_shrinks(start):
    """SETTINGS make it negative while a body is sent (RFC 9113 section 6.9.2)."""
    def serve(peer):
        request = peer.request(whole=False)
        peer.until_true(lambda: len(request.body) == 65535)
        peer.send(frame(SETTINGS, 0, 0, settings(INITIAL_WINDOW_SIZE=10)))
        peer.open(0, 1 << 20)
        peer.open(request.stream, 65535 - 10 + 5)
        peer.until_true(lambda: len(request.body) >= 65540)
        assert len(request.body) == 65540
        peer.open(request.stream, 1 << 20)
        assert peer.until_true(lambda: request.is_whole)
        peer.answer(request.stream, b"%d" % (request.body == BIG))
        peer.drain()

    with H2Backend(serve, opens=False) as backend:
        answer = start(**front("", backend)).request("/", "POST", body=BIG)
        assert (answer.status, answer.body) == (200, b"1")


@pytest.mark.parametrize("piece", [1, 200])
def test_bodies_in_small_frames(start, protocol, piece):
    body = BIG[:piece * 300]

    def each(peer, request):
        peer.send(peer.reply(request.stream))
        for at in range(0, len(body), piece):
            peer.send(frame(DATA, 0, request.stream, body[at:at + piece]))
        peer.send(frame(DATA, END_STREAM, request.stream))

    with H2Backend(each=each) as backend:
        with client(start(**front("", backend)), protocol) as c:
            assert c.request("/").body == body


def test_padded_frames(start, protocol):
    """Padding counts for windows (RFC 9113 section 6.1)."""
    def each(peer, request):
        peer.send(peer.reply(request.stream))
        for _ in range(80):
            peer.send(frame(DATA, PADDED, request.stream, b"\xff" + b"x" * 500 + bytes(255)))
        peer.send(frame(DATA, END_STREAM, request.stream))

    with H2Backend(each=each) as backend:
        with client(start(**front("", backend)), protocol) as c:
            assert c.request("/").body == b"x" * 40_000


def test_a_large_answer(start, protocol):
    body = noise(3 << 20)
    with Orderly(lambda q: (200, [("content-length", str(len(body)))] if q.path == "/l" else [], body, [])) as backend:
        server = start(**front("", backend))
        with client(server, protocol) as c:
            assert c.request("/").body == body
            assert c.request("/l").body == body


@PLAIN
@pytest.mark.timed
def test_a_client_that_reads_nothing_stops_the_backend(start):
    """Its window stays shut, so no more than it holds comes (RFC 9113 section 5.2)."""
    with Orderly(lambda q: (200, [], bytes(64 << 20) if q.path == "/big" else b"ok", [])) as backend:
        server = start(**front("", backend))
        before = resident(server)
        with server.connect(receive_buffer=4096) as slow:
            slow.send(http.request("/big"))
            assert eventually(lambda: len(backend.requests) == 1)
            for _ in range(20):
                assert server.request("/").body == b"ok"
                time.sleep(0.02)
            assert resident(server) - before < 8 << 20
        assert eventually(lambda: [code for _, code in backend.resets] == [CANCEL])
        assert server.request("/").body == b"ok"
        assert backend.connections == 1


def resident(server):
    with open(f"/proc/{server.pid}/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:"))


# ---- clients that leave ----

@pytest.mark.parametrize("when", ["before", "within"])
def test_a_client_that_leaves(start, protocol, when):
    """RST_STREAM with CANCEL; the connection goes on (RFC 9113 section 7)."""
    def serve(peer):
        request = peer.request()
        if when == "within":
            peer.send(peer.reply(request.stream), frame(DATA, 0, request.stream, b"begun"))
        assert peer.until_true(lambda: peer.resets)
        assert peer.resets == {1: CANCEL}
        peer.answer(peer.request().stream, b"next")
        peer.drain()

    with H2Backend(serve) as backend:
        server = start(**front("", backend))
        if protocol == "h1":
            with server.connect() as c:
                c.send(http.request("/"))
                if when == "within":
                    c.stream.line()
                assert eventually(lambda: backend.peers and backend.peers[0].requests)
        else:
            with frames(server) as c:
                c.send(c.head(1))
                if when == "within":
                    c.until(DATA)
                assert eventually(lambda: backend.peers and backend.peers[0].requests)
                c.send(frame(RST_STREAM, 0, 1, CANCEL.to_bytes(4, "big")))
                assert eventually(lambda: backend.peers[0].resets)
        assert server.request("/").body == b"next"
        assert backend.connections == 1


# ---- few streams, many requests ----

@pytest.mark.parametrize("entry, connections", [("MaxConnections 1\nQueueTimeout 20s", 1), ("", 20)])
def test_a_stream_at_a_time(start, protocol, entry, connections):
    """MAX_CONCURRENT_STREAMS 1 (RFC 9113 section 5.1.2): each request is answered, in its turn."""
    most = [0]

    def each(peer, request):
        most[0] = max(most[0], sum(1 for q in peer.requests.values() if not hasattr(q, "was_answered")))
        request.was_answered = True
        time.sleep(0.01)
        peer.answer(request.stream, request.path.encode())

    with H2Backend(each=each, payload=settings(MAX_CONCURRENT_STREAMS=1)) as backend:
        server = start(**front(entry, backend))
        assert server.request("/first").body == b"/first"

        def ask(n):
            with client(server, protocol) as c:
                return c.request(f"/{n}").body

        with at_once(*(lambda n=n: ask(n) for n in range(20))) as answers:
            pass
        assert answers == [b"/%d" % n for n in range(20)]
        assert most[0] == 1 and backend.connections <= connections


def test_a_burst_before_the_settings(start):
    """A backend that takes two streams refuses others (RFC 9113 section 5.1.2): calls wait until it has said so, and none is refused."""
    def serve(peer):
        time.sleep(0.05)
        answered = set()
        while request := peer.request():
            active = [q for q in peer.requests.values() if q.stream not in answered]
            if len(active) > 2:
                peer.reset_stream(request.stream, REFUSED_STREAM)
                backend.refused += 1
            else:
                peer.answer(request.stream, b"ok")
            answered.add(request.stream)

    with H2Backend(serve, payload=settings(MAX_CONCURRENT_STREAMS=2)) as backend:
        backend.refused = 0
        server = start(**front("MaxConnections 3\nQueueTimeout 20s", backend))
        with at_once(*[lambda: server.request("/").status] * 40) as statuses:
            pass
        assert set(statuses) == {200} and backend.refused == 0


def test_a_queue_that_is_full(start):
    """QueueLength counts calls that wait for a stream, beside one for which a connection is to be made."""
    def serve(peer):
        peer.until_true(lambda: peer.requests)
        assert eventually(lambda: backend.is_open)
        peer.answer(1, b"ok")
        while request := peer.request():
            if request.stream > 1:
                peer.answer(request.stream, b"ok")

    with H2Backend(serve, payload=settings(MAX_CONCURRENT_STREAMS=1)) as backend:
        backend.is_open = False
        server = start(**front("MaxConnections 1\nQueueLength 2\nQueueTimeout 20s\nOfflineTimeOut 0", backend))
        with at_once(lambda: server.request("/").status) as first:
            assert eventually(lambda: backend.peers and backend.peers[0].requests)
            with at_once(*[lambda: server.request("/").status] * 8) as statuses:
                assert eventually(lambda: statuses.count(503) == 5)
                backend.is_open = True
        assert first == [200] and sorted(statuses) == [200] * 3 + [503] * 5


# ---- GOAWAY, REFUSED_STREAM ----

@pytest.mark.parametrize("method", ["GET", "POST"])
def test_goaway_between_streams(start, method):
    """Streams up to its number are answered; the others are sent again, once, over a new connection (RFC 9113 section 6.8)."""
    def serve(peer):
        if backend.connections > 1:
            while request := peer.request():
                backend.requests.append(request)
                peer.answer(request.stream, b"new " + request.body)
            return
        peer.until_true(lambda: sum(q.is_whole for q in peer.requests.values()) == 4)
        peer.goaway(3)
        time.sleep(0.1)
        for stream in (1, 3):
            peer.answer(stream, b"old " + peer.requests[stream].body)
        peer.drain()
        backend.ended = True

    with H2Backend(serve) as backend:
        backend.ended = False
        server = start(**front("", backend))

        def ask(n):
            return server.request("/", method, body=b"%d" % n if method == "POST" else b"").body

        with at_once(*[lambda n=n: ask(n) for n in range(4)]) as answers:
            pass
        assert sorted(a.split()[0] for a in answers) == [b"new", b"new", b"old", b"old"]
        if method == "POST":
            assert [a.split()[1] for a in answers] == [b"0", b"1", b"2", b"3"]
        assert len(backend.requests) == 2 and backend.connections == 2
        assert eventually(lambda: backend.ended)
        assert server.request("/").body == b"new "


def test_goaway_twice(start):
    """The one that gives notice names the largest number (RFC 9113 section 6.8)."""
    def serve(peer):
        if backend.connections > 1:
            peer.answer(peer.request().stream, b"new")
            peer.drain()
            return
        request = peer.request()
        peer.goaway(0x7fffffff)
        with at_once(lambda: server.request("/").body) as others:
            time.sleep(0.05)
            peer.goaway(1)
            peer.answer(request.stream, b"old")
            peer.drain()
        backend.others = others

    with H2Backend(serve) as backend:
        server = start(**front("", backend))
        assert server.request("/").body == b"old"
        assert eventually(lambda: getattr(backend, "others", None)) == [b"new"]


def test_goaway_with_an_error(start):
    """Each answer that is not whole is an error, and nothing else fails (RFC 9113 section 5.4.1)."""
    def serve(peer):
        peer.request()
        peer.goaway(1, 2)

    with H2Backend(serve) as backend:
        server = start(**front("OfflineTimeOut 0", backend))
        assert server.request("/", "POST", body=b"x").status == 502
        assert backend.connections == 1


def test_a_refused_stream_is_sent_again(start, protocol):
    """REFUSED_STREAM, for whatever method (RFC 9113 section 8.7)."""
    def serve(peer):
        for _ in range(3):
            peer.reset_stream(peer.request().stream, REFUSED_STREAM)
        request = peer.request()
        peer.answer(request.stream, request.body)
        peer.drain()

    with H2Backend(serve) as backend:
        server = start(**front("", backend))
        with client(server, protocol) as c:
            answer = c.request("/", "POST", body=b"body")
            assert (answer.status, answer.body) == (200, b"body")


def test_refused_again_and_again(start, protocol):
    """Four times are enough."""
    def serve(peer):
        while request := peer.request():
            backend.requests.append(request)
            peer.reset_stream(request.stream, REFUSED_STREAM)

    with H2Backend(serve) as backend:
        server = start(**front("", backend))
        with client(server, protocol) as c:
            assert c.request("/", "POST", body=b"body").status in (502, 503)
            assert len(backend.requests) == 4


def test_refused_and_another_backend(start):
    def serve(peer):
        while request := peer.request():
            peer.reset_stream(request.stream, REFUSED_STREAM)

    with H2Backend(serve) as refusing, H2Backend(name="b") as other:
        server = start(**front("LoadBalancer First-Alive", refusing, other))
        assert server.request("/", "POST", body=b"x").body == b"b"


def test_a_large_body_is_not_sent_again(start):
    """What was not kept cannot be."""
    def serve(peer):
        request = peer.request(whole=False)
        peer.until_true(lambda: len(request.body) > 200_000)
        peer.reset_stream(request.stream, REFUSED_STREAM)
        peer.drain()

    with H2Backend(serve) as backend:
        server = start(**front("RequestBuffering off", backend))
        with server.connect() as c:
            with contextlib.suppress(OSError):
                c.send(http.request("/", "POST", body=noise(3 << 20)))
            assert b"502" in c.rest_until_cut()[:20]
        assert server.is_running()


# ---- connections that end ----

@pytest.mark.parametrize("how", ["close", "reset", "goaway"])
def test_a_connection_that_ends_while_idle(start, protocol, how):
    def serve(peer):
        peer.answer(peer.request().stream)
        if how == "reset":
            peer.reset()
        elif how == "goaway":
            peer.goaway(1)

    with H2Backend(serve) as backend:
        server = start(**front("", backend))
        with client(server, protocol) as c:
            for _ in range(5):
                assert c.request("/", "POST", body=b"x").status == 200
                time.sleep(0.02)
        assert backend.connections == 5


def test_an_idle_connection_is_closed(start):
    """With a GOAWAY (RFC 9113 section 9.1)."""
    with H2Backend() as backend:
        server = start(**front("KeepAliveTimeout 1s", backend))
        assert server.request("/").status == 200
        assert eventually(lambda: backend.peers[0].goodbye) and backend.peers[0].goodbye.code == NO_ERROR
        assert server.request("/").status == 200 and backend.connections == 2


def test_a_backend_restarts(start, protocol):
    with Orderly() as backend:
        server = start(**front("OfflineTimeOut 0", backend))
        with client(server, protocol) as c:
            assert c.request("/").status == 200
            for _ in range(3):
                backend.stop()
                assert c.request("/").status == 502
                backend.start()
                assert c.request("/").status == 200


@pytest.mark.parametrize("method, status", [("GET", 200), ("POST", 502)])
def test_a_backend_that_dies_with_a_request(start, method, status):
    """What it may have acted on is not sent again, unless that harms nobody (RFC 9110 section 9.2.2)."""
    def serve(peer):
        peer.request()
        peer.reset()

    with H2Backend(serve) as dying, H2Backend(name="b") as other:
        server = start(**front("LoadBalancer First-Alive\nOfflineTimeOut 0", dying, other))
        assert server.request("/", method, body=b"x" if method == "POST" else b"").status == status
        assert len(other.requests) == (status == 200)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("code", [2, 8, 11])
def test_a_stream_that_is_reset(start, code, method):
    """The request failed, its connection did not; it is not asked again, as for a connection that was closed while idle."""
    def serve(peer):
        peer.answer(peer.request().stream)
        peer.reset_stream(peer.request().stream, code)
        peer.answer(peer.request().stream, b"next")
        peer.drain()

    with H2Backend(serve) as backend:
        server = start(**front("OfflineTimeOut 0", backend))
        assert server.request("/").status == 200
        assert server.request("/", method, body=b"x" if method == "POST" else b"").status == 502
        assert server.request("/").body == b"next"
        assert backend.connections == 1


def test_a_stream_that_is_reset_in_its_answer(start):
    """The answer is plainly cut, the connection goes on."""
    def serve(peer):
        request = peer.request()
        peer.send(peer.reply(request.stream), frame(DATA, 0, request.stream, b"half"))
        time.sleep(0.05)
        peer.reset_stream(request.stream, 2)
        peer.answer(peer.request().stream, b"next")
        peer.drain()

    with H2Backend(serve) as backend:
        server = start(**front("OfflineTimeOut 0", backend))
        assert http.is_cut_off(server.raw_until_cut(http.request("/")))
        assert server.request("/").body == b"next"
        assert backend.connections == 1


def test_a_head_that_breaks_off_is_no_end_of_a_body(start, protocol):
    """The connection ends with neither END_STREAM nor a length."""
    def serve(peer):
        request = peer.request()
        peer.send(peer.reply(request.stream), frame(DATA, 0, request.stream, b"half"))

    with H2Backend(serve) as backend:
        server = start(**front("OfflineTimeOut 0", backend))
        if protocol == "h1":
            assert http.is_cut_off(server.raw_until_cut(http.request("/")))
        else:
            with frames(server) as c:
                c.send(c.head(1))
                assert not isinstance(c.answer(1), tuple)


# ---- backends that are silent ----

def test_a_silent_backend(start, protocol):
    """504, RST_STREAM with CANCEL, and a PING: a connection that answers it goes on (RFC 9113 section 6.7)."""
    def serve(peer):
        peer.request()
        assert peer.until_true(lambda: peer.resets and any(f.kind == PING for f in peer.seen))
        while request := peer.request():
            peer.answer(request.stream, b"next")

    with H2Backend(serve) as backend:
        server = start(**front("ReadTimeout 200ms\nOfflineTimeOut 0", backend))
        with client(server, protocol) as c:
            assert c.request("/").status == 504
        assert eventually(lambda: backend.peers[0].resets) == {1: CANCEL}
        time.sleep(0.1)
        assert server.request("/").body == b"next"
        assert backend.connections == 1


@pytest.mark.slow
@pytest.mark.timed
def test_a_dead_backend(start):
    """Without an answer to PING its other calls fail after five seconds; new calls use another connection at once."""
    def serve(peer):
        if backend.connections == 1:
            peer.acknowledges = False
            peer.until_true(lambda: peer.goodbye)
            backend.ended = time.monotonic()
        else:
            while request := peer.request():
                peer.answer(request.stream, b"new")

    with H2Backend(serve) as backend:
        backend.ended = None
        server = start(**front("ReadTimeout 1s\nOfflineTimeOut 0\nAttemptsCount 1", backend))
        with frames(server) as other:
            other.send(other.head(1, "/up", "POST", fields=[("content-length", "10")], end=False))
            assert server.request("/").status == 504
            began = time.monotonic()
            assert server.request("/").body == b"new"
            assert time.monotonic() - began < 1
            assert eventually(lambda: backend.ended) and 4 < backend.ended - began < 7


def test_a_backend_of_http1(start, protocol):
    """It does not understand the preface (RFC 9113 section 3.4): 502 at once."""
    def serve(conn):
        conn.more()
        conn.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    with Backend(serve) as backend:
        server = start(**front("ReadTimeout 20s\nOfflineTimeOut 0", backend))
        with client(server, protocol) as c:
            assert c.request("/").status == 502  # and not 504
        server.wait_for_log("proxy (backend )?failed")


def test_a_backend_that_closes_at_once(start):
    with Backend(lambda conn: None) as backend:
        server = start(**front("OfflineTimeOut 0", backend))
        assert server.request("/", "POST", body=b"x").status == 502
        assert backend.connections <= 4


# ---- several backends, workers, reloads, the end ----

def test_one_backend_refuses_connections(start):
    with H2Backend() as backend:
        server = start(**front("AttemptsCount 1", f"127.0.0.1:{free_port()}", backend))
        for _ in range(4):
            assert server.request("/", "POST", body=b"x").body == b"ok"
        assert len(backend.requests) == 4


@pytest.mark.parametrize("balancer", ["Naive", "First-Alive", "RoundRobin", "LeastConnections", "SourceHash", "Random2", "ConsistentHash"])
def test_balancers(start, balancer):
    with H2Backend() as a, H2Backend() as b:
        server = start(**front(f"LoadBalancer {balancer}\nOfflineTimeOut 0", a, b))
        for _ in range(8):
            assert server.request("/").status == 200
        assert len(a.requests) + len(b.requests) == 8
        if balancer == "RoundRobin":
            assert len(a.requests) == 4
        a.stop()
        assert server.request("/").status == 200


def test_two_workers(start):
    """Each has its own connections."""
    with Orderly() as backend:
        server = start(**front("", backend, server="Workers 2\n"))
        with at_once(*[lambda: [server.request("/", "POST", body=b"%d" % n).body for n in range(10)]] * 8) as answers:
            pass
        assert answers == [[b"%d" % n for n in range(10)]] * 8
        assert len(backend.requests) == 80 and backend.connections <= 16


def waiting(backend):
    """serve for a backend that answers when it is told to."""
    def serve(peer):
        while request := peer.request():
            with backend.lock:
                backend.requests.append(request)
            assert eventually(lambda: backend.may_answer)
            peer.answer(request.stream, b"late")
    return serve


@contextlib.contextmanager
def patient():
    backend = H2Backend(lambda peer: waiting(backend)(peer))
    backend.may_answer = False
    with backend:
        yield backend


@pytest.mark.parametrize("workers", [1, 2])
def test_a_reload_while_a_call_is_under_way(start, protocol, workers):
    with patient() as backend:
        said = front("OfflineTimeOut 0", backend, server=f"Workers {workers}\n")
        server = start(**said)
        with client(server, protocol) as c:
            with at_once(lambda: c.request("/").body) as answers:
                assert backend.has(1)
                server.reload(**said)
                backend.may_answer = True
            assert answers == [b"late"]
            for _ in range(3):
                server.reload(**said)
                assert server.request("/").body == b"late"
        server.reload()
        assert server.request("/").body == b"late"


def test_a_reload_to_other_protocols(start):
    with H2Backend() as new, Backend() as old:
        server = start(**configured("", old, server="Listen 127.0.0.1:0"))
        assert server.request("/").body == b"ok"
        server.reload(**configured("", new.place, server="Listen 127.0.0.1:0"))
        assert server.request("/").body == b"ok"
        server.reload(**configured("", old, server="Listen 127.0.0.1:0"))
        assert server.request("/").body == b"ok"
        assert len(old.requests) == 2 and len(new.requests) == 1


def test_the_server_stops_while_calls_are_under_way(start):
    """They are answered before it exits."""
    with patient() as backend:
        server = start(**front("", backend))
        with at_once(*[lambda: server.request("/").body] * 3) as answers:
            assert backend.has(1)
            assert eventually(lambda: len(backend.peers[0].seen) >= 3)
            server.signal(signal.SIGTERM)
            time.sleep(0.1)
            backend.may_answer = True
        assert answers == [b"late"] * 3
        server.expect_exit()
        assert eventually(lambda: backend.peers[0].sock.fileno() < 0)


def test_a_health_check(start):
    """Over HTTP/2 as well: a backend goes bad and is good again."""
    health = [200]

    def respond(q):
        return (health[0] if q.path == "/health" else 200, [], b"a", [])

    with Orderly(respond) as backend, H2Backend(name="b") as other:
        server = start(**front("LoadBalancer First-Alive\nHealthCheck /health 100ms", backend, other))
        assert server.request("/").body == b"a"
        for status, name in [(500, b"b"), (200, b"a"), (404, b"b"), (204, b"a")]:
            health[0] = status
            assert eventually(lambda name=name: server.request("/").body == name)
        checks = [q for q in backend.requests if q.path == "/health"]
        assert checks[0].get(":authority") == backend.address and checks[0].get("user-agent") == "Monkey health check"
        assert backend.connections <= 3


def test_a_health_check_and_a_restart(start):
    with H2Backend() as backend:
        server = start(**front("HealthCheck /health 100ms\nOfflineTimeOut 60", backend))
        assert eventually(lambda: any(q.path == "/health" for q in backend.requests))
        backend.stop()
        assert eventually(lambda: server.request("/").status in (502, 503))
        backend.start()
        assert eventually(lambda: server.request("/").status == 200)


@pytest.mark.parametrize("how", ["silent", "refused", "reset", "goaway"])
def test_a_health_check_that_is_not_answered(start, how):
    def serve(peer):
        while request := peer.request():
            if request.path != "/health":
                peer.answer(request.stream)
            elif how == "goaway":
                peer.goaway(0)
            elif how != "silent":
                peer.reset_stream(request.stream, REFUSED_STREAM if how == "refused" else 2)

    with H2Backend(serve) as backend, H2Backend(name="b") as other:
        server = start(**front("LoadBalancer First-Alive\nHealthCheck /health 100ms\nReadTimeout 300ms", backend, other))
        assert eventually(lambda: server.request("/").body == b"b")


def test_reloads_with_health_checks(start):
    with Orderly() as backend:
        said = front("HealthCheck /health 100ms", backend)
        server = start(**said)
        for _ in range(5):
            seen = len(backend.requests)
            assert eventually(lambda seen=seen: len(backend.requests) > seen)
            server.reload(**said)
        assert server.request("/").status == 200


# ---- many at a time ----

def test_a_crowd_with_bodies(start):
    """Bodies of many sizes, each way, of a connection whose clients have different speeds."""
    with Orderly(first={"INITIAL_WINDOW_SIZE": 70_000, "MAX_CONCURRENT_STREAMS": 7}) as backend:
        server = start(**front("", backend, server="Workers 2\n"))

        def converse(seed):
            for n in range(5):
                body = BIG[seed * 100:seed * 100 + n * n * 3000 + seed]
                answer = server.request(f"/{seed}", "POST", body=body)
                assert answer.status == 200 and answer.body == body, (seed, n, answer.status)
            return True

        with at_once(*[lambda seed=seed: converse(seed) for seed in range(1, 17)]) as done:
            pass
        assert done == [True] * 16


def test_clients_that_leave_at_any_time(start):
    """Calls that are cancelled in every state leave room for others."""
    def each(peer, request):
        time.sleep(0.002)
        peer.answer(request.stream, b"x" * 1000)

    with H2Backend(each=each, payload=settings(MAX_CONCURRENT_STREAMS=3)) as backend:
        server = start(**front("MaxConnections 2\nQueueTimeout 20s", backend))
        for n in range(60):
            with server.connect() as c:
                c.send(http.request("/", "POST", body=b"x" * 100))
                time.sleep(n % 7 * 0.001)
        with at_once(*[lambda: server.request("/").status] * 10) as statuses:
            pass
        assert statuses == [200] * 10 and backend.connections <= 2


def test_streams_of_a_connection_have_one_window_each(start):
    """A client that reads nothing takes only its own (RFC 9113 section 5.2.2): others go on over the same connection."""
    big = noise(1 << 20)
    with Orderly(lambda q: (200, [], bytes(8 << 20) if q.path == "/slow" else big, [])) as backend:
        server = start(**front("MaxConnections 1", backend))
        with contextlib.ExitStack() as stack:
            for _ in range(10):
                slow = stack.enter_context(server.connect(receive_buffer=4096))
                slow.send(http.request("/slow"))
            assert eventually(lambda: len(backend.requests) == 10)
            for _ in range(3):
                assert server.request("/").body == big
        assert backend.connections == 1


def test_uploads_of_a_connection_have_one_window_each(start):
    """A stream whose backend reads nothing holds up no other one."""
    def serve(peer):
        peer.open(0, 1 << 24)
        peer.opens = False
        while request := peer.request():
            peer.answer(request.stream, b"%d" % len(request.body))

    with H2Backend(serve) as backend:
        server = start(**front("RequestBuffering off\nMaxConnections 1\nSendTimeout 20s", backend))
        with server.connect() as stuck:
            stuck.send(http.request("/", "POST", body=b"x" * 100_000)[:90_000])
            assert eventually(lambda: backend.peers and backend.peers[0].requests)
            for size in (1, 1000, 60_000):
                assert server.request("/", "POST", body=b"x" * size).body == b"%d" % size
        assert backend.connections == 1


def test_a_client_that_sends_slowly(start):
    """Without buffering, each piece goes on at once, and the connection is free for others."""
    def serve(peer):
        while request := peer.request():
            peer.answer(request.stream, request.body)

    with H2Backend(serve) as backend:
        server = start(**front("RequestBuffering off", backend))
        with server.connect() as slow:
            slow.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            for n in range(5):
                slow.send(http.chunk(b"%d" % n))
                assert eventually(lambda n=n: backend.peers and backend.peers[0].requests) and server.request("/").status == 200
                assert eventually(lambda n=n: backend.peers[0].requests[1].body == b"01234"[:n + 1])
            slow.send(http.chunk(b""))
            assert slow.response("POST").body == b"01234"
        assert backend.connections == 1


def test_a_client_that_breaks_off_its_body(start):
    """The backend sees no whole request (RFC 9113 section 8.1.1): RST_STREAM, not END_STREAM."""
    with H2Backend() as backend:
        server = start(**front("RequestBuffering off", backend))
        for text in ("Content-Length: 10\r\n\r\n12345", "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n",
                     "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\nx\r\n"):
            with server.connect() as c:
                c.send("POST / HTTP/1.1\r\nHost: a\r\n" + text)
                assert eventually(lambda: backend.peers)
                time.sleep(0.05)
                c.finish_sending()
                c.rest_until_cut()
        assert server.request("/").body == b"ok"
        assert len(backend.requests) == 1 and backend.connections == 1
        assert len(backend.peers[0].resets) >= 2 and set(backend.peers[0].resets.values()) == {CANCEL}


def test_a_large_head_each_way(start):
    """In CONTINUATION frames (RFC 9113 section 6.10)."""
    many = [(f"x-{n}", "y" * 400) for n in range(60)]

    def respond(q):
        return 200, [field for field in q.fields if field[0].startswith("x-") and not field[0].startswith("x-f")], b"ok", []

    with Orderly(respond) as backend:
        server = start(**front("MaxAnswerHead 64K", backend, server=f"{ONE}MaxRequestSize 64K\n"))
        answer = server.request("/", headers=many)
        assert answer.status == 200 and [f for f in answer.fields if f[0].startswith("x-")] == many
        assert backend.connections == 1


def test_an_answer_above_max_answer_head(start):
    with Orderly(lambda q: (200, [(f"x-{n}", "y" * 100) for n in range(100)] if q.path == "/big" else [], b"ok", [])) as backend:
        server = start(**front("MaxAnswerHead 4K", backend))
        assert server.request("/big").status == 502
        assert server.request("/").body == b"ok"
        assert backend.connections == 1


def test_a_table_that_shrinks(start):
    """HEADER_TABLE_SIZE 0, and then more (RFC 7541 section 4.2)."""
    def serve(peer):
        for size in (0, 4096, 100, 65536, 0):
            request = peer.request()
            assert request.get("x-a") == "b" * 50
            peer.send(frame(SETTINGS, 0, 0, settings(HEADER_TABLE_SIZE=size)))
            peer.decoder.max_allowed_table_size = max(size, 4096)
            peer.answer(request.stream)
        peer.drain()

    with H2Backend(serve) as backend:
        server = start(**front("", backend))
        for _ in range(5):
            assert server.request("/", headers={"X-A": "b" * 50}).status == 200
        assert backend.connections == 1


def test_streams_that_end_a_connections_numbers(start):
    """Many requests, one connection (RFC 9113 section 5.1.1)."""
    with H2Backend() as backend:
        server = start(**front("", backend))
        with server.connect() as c:
            for _ in range(500):
                assert c.request("/").status == 200
        assert backend.connections == 1 and max(backend.peers[0].requests) == 999


# ---- memory that is missing ----

@pytest.mark.slow
@pytest.mark.limit(600)
@pytest.mark.parametrize("request_text", [
    http.request("/"), http.request("/large"), http.request("/", "POST", body=b"x" * 50_000),
    http.request("/", "POST", headers={"Transfer-Encoding": "chunked"}, body=http.chunked(b"a" * 5000, b"b")),
], ids=["small", "large", "body", "chunks"])
def test_allocations_that_fail(start, allocations, request_text):
    """Allocation 1, 2, ... n of an exchange, over a connection that is made for it: an error or a cut answer, and the next is served."""
    def each(peer, request):
        peer.answer(request.stream, b"l" * 50_000 if request.path == "/large" else b"ok", trailers=[("x-sum", "1")])
        if request.path != "/again":
            peer.goaway(request.stream)

    with H2Backend(each=each) as backend:
        said = configured("OfflineTimeOut 0", backend.place, server=ONE)
        server = start(env=allocations.environment, **said)
        server.wait_for_log("started workers=")  # plugins begin behind the first sockets
        def next_is_served():
            assert server.request("/").body == b"ok"

        assert allocations.until_no_request_fails(server, request_text, next_is_served) > 1


# ---- hostile backends ----

def literal(name, value):
    """A field as HPACK has it, whatever it says (RFC 7541 section 6.2.2)."""
    return bytes([0, *number(len(name))]) + name + bytes(number(len(value))) + value


def number(n):
    """With a prefix of 7 bits (RFC 7541 section 5.1)."""
    if n < 127:
        return [n]
    n, octets = n - 127, [127]
    while n >= 128:
        octets.append(n % 128 | 128)
        n //= 128
    return [*octets, n]


def block(stream, *fields, end=False):
    return frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, b"\x88" + b"".join(literal(*f) for f in fields))


def raw_head(*fields):
    return lambda peer, stream: [frame(HEADERS, END_HEADERS | END_STREAM, stream, b"".join(literal(*f) for f in fields))]


def bomb(peer, stream):
    """A table entry again and again (RFC 7541 section 7.3)."""
    return [frame(HEADERS, END_HEADERS | END_STREAM, stream, b"\x88\x40" + bytes(number(1)) + b"x" + bytes(number(4000)) + b"y" * 4000
                  + b"\xbe" * 12000)]


def endless_head(peer, stream):
    piece = b"".join(literal(b"x-%d" % n, b"y" * 100) for n in range(100))
    return [frame(HEADERS, 0, stream, b"\x88"), *(frame(CONTINUATION, 0, stream, piece) for _ in range(400))]


def many_empty_continuations(peer, stream):
    return [frame(HEADERS, 0, stream, b"\x88"), *(frame(CONTINUATION, 0, stream) for _ in range(200_000))]


def large_list(peer, stream):
    """2 MB of fields in as many frames as it needs."""
    text = b"\x88" + b"".join(literal(b"x-%d" % n, b"y" * 1000) for n in range(2000))
    pieces = [text[at:at + 16384] for at in range(0, len(text), 16384)]
    return [frame(HEADERS, 0, stream, pieces[0]), *(frame(CONTINUATION, 0, stream, p) for p in pieces[1:-1]),
            frame(CONTINUATION, END_HEADERS, stream, pieces[-1]), frame(DATA, END_STREAM, stream)]


WHOLE = {  # before a head of an answer is whole: 502
    "PUSH_PROMISE (8.4)": lambda p, s: [frame(PUSH_PROMISE, END_HEADERS, s, b"\0\0\0\2\x82\x84\x86")],
    "HEADERS of a stream that nobody began (5.1)": lambda p, s: [p.reply(s + 100, 200, end=True)],
    "HEADERS of a stream with an even number (5.1.1)": lambda p, s: [p.reply(2, 200, end=True)],
    "HEADERS of stream 0 (6.2)": lambda p, s: [p.reply(0, 200, end=True)],
    "DATA before a head (8.1)": lambda p, s: [frame(DATA, 0, s, b"x")],
    "DATA with an end before a head (8.1)": lambda p, s: [frame(DATA, END_STREAM, s, b"x")],
    "DATA of stream 0 (6.1)": lambda p, s: [frame(DATA, 0, 0, b"x")],
    "a frame that is too large (4.2)": lambda p, s: [frame(DATA, 0, s, b"x" * 16385)],
    "SETTINGS of 5 bytes (6.5)": lambda p, s: [frame(SETTINGS, 0, 0, b"12345")],
    "SETTINGS with ENABLE_PUSH (6.5.2)": lambda p, s: [frame(SETTINGS, 0, 0, settings(ENABLE_PUSH=1))],
    "SETTINGS with too large a window (6.5.2)": lambda p, s: [frame(SETTINGS, 0, 0, settings(INITIAL_WINDOW_SIZE=1 << 31))],
    "PING of 7 bytes (6.7)": lambda p, s: [frame(PING, 0, 0, b"1234567")],
    "WINDOW_UPDATE of 0 for the connection (6.9)": lambda p, s: [frame(WINDOW_UPDATE, 0, 0, bytes(4))],
    "WINDOW_UPDATE of 0 for the stream (6.9)": lambda p, s: [frame(WINDOW_UPDATE, 0, s, bytes(4))],
    "WINDOW_UPDATE beyond 2^31-1 (6.9.1)": lambda p, s: [frame(WINDOW_UPDATE, 0, 0, b"\x7f\xff\xff\xff")] * 2,
    "a flood of PING (10.5)": lambda p, s: [frame(PING, 0, 0, b"12345678")] * 100_000,
    "a flood of SETTINGS (10.5)": lambda p, s: [frame(SETTINGS, 0, 0, settings(MAX_FRAME_SIZE=16384))] * 100_000,
    "a flood of RST_STREAM (10.5)": lambda p, s: [frame(RST_STREAM, 0, s, b"\0\0\0\2")] * 100_000,
    "a flood of PRIORITY (10.5)": lambda p, s: [frame(PRIORITY, 0, s, b"\0\0\0\0\1")] * 100_000,
    "a flood of unknown frames (5.5)": lambda p, s: [frame(0xbb, 0, s, b"x")] * 100_000,
    "an HPACK bomb (RFC 7541 7.3)": bomb,
    "HPACK that is none (4.3)": lambda p, s: [frame(HEADERS, END_HEADERS | END_STREAM, s, b"\xff\xff\xff\xff\xff\xff\xff")],
    "an index that is not there (RFC 7541 2.3.3)": lambda p, s: [frame(HEADERS, END_HEADERS | END_STREAM, s, b"\xfe")],
    "a table larger than we said (RFC 7541 4.2)": lambda p, s: [frame(HEADERS, END_HEADERS | END_STREAM, s, b"\x3f\xe1\xff\x03\x88")],
    "a head without an end (6.10)": endless_head,
    "empty CONTINUATION frames (6.10)": many_empty_continuations,
    "another frame in a head (6.10)": lambda p, s: [frame(HEADERS, 0, s, b"\x88"), frame(DATA, END_STREAM, s, b"x")],
    "a list of 2 MB (10.5.1)": large_list,
    "CRLF in a value (8.2.1)": lambda p, s: [block(s, (b"x-a", b"1\r\nx-b: 2"), end=True)],
    "LF in a value (8.2.1)": lambda p, s: [block(s, (b"x-a", b"1\nx-b: 2"), end=True)],
    "NUL in a value (8.2.1)": lambda p, s: [block(s, (b"x-a", b"1\0"), end=True)],
    "a blank before a value (8.2.1)": lambda p, s: [block(s, (b"x-a", b" 1"), end=True)],
    "CRLF in a name (8.2.1)": lambda p, s: [block(s, (b"x-a: 1\r\nx-b", b"2"), end=True)],
    "upper case in a name (8.2.1)": lambda p, s: [block(s, (b"X-A", b"1"), end=True)],
    "a colon in a name (8.2.1)": lambda p, s: [block(s, (b"x:a", b"1"), end=True)],
    "no name (8.2.1)": lambda p, s: [block(s, (b"", b"1"), end=True)],
    "transfer-encoding (8.2.2)": lambda p, s: [block(s, (b"transfer-encoding", b"chunked"), end=True)],
    "an unknown pseudo-header field (8.3)": lambda p, s: [block(s, (b":x", b"1"), end=True)],
    "one of a request (8.3)": lambda p, s: [block(s, (b":path", b"/"), end=True)],
    "no :status (8.3.2)": raw_head((b"x-a", b"1")),
    "nothing (8.3.2)": raw_head(),
    ":status twice (8.3.2)": raw_head((b":status", b"200"), (b":status", b"200")),
    ":status after a field (8.3)": raw_head((b"x-a", b"1"), (b":status", b"200")),
    **{f":status {status!r} (8.3.2)": raw_head((b":status", status)) for status in (
        b"1000", b"99", b"0", b"", b"2 0", b"200 OK", b"-20", b"+200", b"20x", b"000", b"0200", b"600\r\n")},
    "101 (8.6)": lambda p, s: [p.reply(s, 101)],
    "END_STREAM on 103 (8.1)": lambda p, s: [p.reply(s, 103, end=True)],
    "END_STREAM after 103 (8.1)": lambda p, s: [p.reply(s, 103), frame(DATA, END_STREAM, s)],
    "a body of 103 (8.1)": lambda p, s: [p.reply(s, 103), frame(DATA, 0, s, b"x")],
    "content-length twice (8.1.1)": lambda p, s: [block(s, (b"content-length", b"1"), (b"content-length", b"2")),
                                                  frame(DATA, END_STREAM, s, b"x")],
    "content-length 1x (8.1.1)": lambda p, s: [block(s, (b"content-length", b"1x")), frame(DATA, END_STREAM, s, b"x")],
    "content-length -1 (8.1.1)": lambda p, s: [block(s, (b"content-length", b"-1")), frame(DATA, END_STREAM, s, b"x")],
    "content-length and no body (8.1.1)": lambda p, s: [block(s, (b"content-length", b"5"), end=True)],
    "GOAWAY of 7 bytes (6.8)": lambda p, s: [frame(GOAWAY, 0, 0, bytes(7))],
    "garbage": lambda p, s: [noise(100_000)],
}

CUT = {  # behind a head: the answer is cut, or was whole
    "a body that is short (8.1.1)": lambda p, s: [block(s, (b"content-length", b"5")), frame(DATA, END_STREAM, s, b"1234")],
    "a body that is long (8.1.1)": lambda p, s: [block(s, (b"content-length", b"5")), frame(DATA, END_STREAM, s, b"123456")],
    "DATA beyond the window (5.2.1)": lambda p, s: [p.reply(s), *[frame(DATA, 0, s, b"x" * 16384)] * 10],
    "a flood of empty DATA (10.5)": lambda p, s: [p.reply(s), *[frame(DATA, 0, s)] * 100_000],
    "padding longer than its frame (6.1)": lambda p, s: [p.reply(s), frame(DATA, PADDED, s, b"\x09x")],
    "a second head (8.1)": lambda p, s: [p.reply(s), p.reply(s, 200, [("x-b", "1")])],
    "trailers without END_STREAM (8.1)": lambda p, s: [p.reply(s), frame(DATA, 0, s, b"x"),
                                                       frame(HEADERS, END_HEADERS, s, literal(b"x-a", b"1"))],
    "a pseudo-header field in trailers (8.1)": lambda p, s: [p.reply(s), frame(DATA, 0, s, b"x"),
                                                             frame(HEADERS, END_HEADERS | END_STREAM, s, literal(b":status", b"200"))],
    "CRLF in trailers (8.2.1)": lambda p, s: [p.reply(s), frame(DATA, 0, s, b"x"),
                                              frame(HEADERS, END_HEADERS | END_STREAM, s, literal(b"x-a", b"1\r\nx-b: 2"))],
    "RST_STREAM (6.4)": lambda p, s: [p.reply(s), frame(DATA, 0, s, b"x"), frame(RST_STREAM, 0, s, b"\0\0\0\2")],
}

AFTER = {  # behind a whole answer
    "DATA (5.1)": lambda p, s: [frame(DATA, 0, s, b"more")],
    "HEADERS (5.1)": lambda p, s: [p.reply(s, 200, end=True)],
    "RST_STREAM (5.1)": lambda p, s: [frame(RST_STREAM, 0, s, b"\0\0\0\0")],
    "WINDOW_UPDATE (5.1)": lambda p, s: [frame(WINDOW_UPDATE, 0, s, b"\0\0\0\1")],
    "PRIORITY (5.1)": lambda p, s: [frame(PRIORITY, 0, s, b"\0\0\0\0\1")],
}


@pytest.fixture(scope="module", name="hostile")
def fixture_hostile(start_shared):
    """(server, backend): backend.does(peer, stream) gives the frames that it answers requests with."""
    def serve(peer):
        peer.sock.settimeout(10)
        while request := peer.request(whole=False):
            with backend.lock:
                backend.requests.append(request)
            peer.acknowledges = False
            peer.sock.sendall(b"".join(backend.does(peer, request.stream)))

    with H2Backend(serve) as backend, Orderly() as good:
        entries = (f"Name bad\nMatch ^/bad\nServerList {backend.place}\nOfflineTimeOut 0\nReadTimeout 1s",
                   f"Name good\nMatch ^/\nServerList {good.place}")
        if not executable.plugin("http2"):
            pytest.skip("this build has no such plugin")
        yield start_shared(server=f"Listen 127.0.0.1:0 h2\n{ONE}", extra=proxy(*entries, plugins=("http2",))), backend


def ask_frames(server, path):
    """(status, body) or the code of an error, as a client of HTTP/2 sees it."""
    with frames(server, timeout=10, settings=settings(INITIAL_WINDOW_SIZE=1 << 20)) as c:
        c.send(c.head(1, path), frame(WINDOW_UPDATE, 0, 0, (1 << 20).to_bytes(4, "big")))
        return c.answer(1)


@pytest.mark.parametrize("name", WHOLE)
def test_what_a_backend_must_not_do(hostile, name):
    server, backend = hostile
    backend.does = WHOLE[name]
    with at_once(lambda: ask_frames(server, "/bad")) as seen, server.connect() as c:
        c.send(http.request("/bad", "POST", body=b"x"))
        assert server.request("/good").body == b"ok"
        status = c.response().status
    assert (status, seen[0][0]) in [(502, 502), (504, 504)], (status, seen)
    assert server.request("/good").body == b"ok"


@pytest.mark.parametrize("name", CUT)
def test_what_a_backend_must_not_do_in_an_answer(hostile, name):
    server, backend = hostile
    backend.does = CUT[name]
    with at_once(lambda: ask_frames(server, "/bad")) as seen:
        answer = server.raw_until_cut(http.request("/bad"))
        assert server.request("/good").body == b"ok"
    assert answer.startswith(b"HTTP/1.1 50") or http.is_cut_off(answer), answer
    assert isinstance(seen[0], int) or seen[0][0] in (502, 504), seen
    assert b"x-b" not in answer.lower()
    assert server.request("/good").body == b"ok"


@pytest.mark.parametrize("name", AFTER)
def test_frames_after_the_end(hostile, name):
    server, backend = hostile
    backend.does = lambda p, s: [p.reply(s), frame(DATA, END_STREAM, s, b"whole"), *AFTER[name](p, s)]
    assert server.request("/bad").body == b"whole"
    backend.does = lambda p, s: [p.reply(s), frame(DATA, END_STREAM, s, b"whole")]
    assert server.request("/bad").body == b"whole"


def test_a_body_of_204(hostile):
    """Nobody reads it (RFC 9110 section 15.3.5)."""
    server, backend = hostile
    backend.does = lambda p, s: [p.reply(s, 204), frame(DATA, END_STREAM, s, b"x")]
    for _ in range(2):
        answer = server.request("/bad")
        assert (answer.status, answer.body) == (204, b"")


@PLAIN
@pytest.mark.timed
def test_memory_after_hostile_backends(hostile):
    """What floods and bombs took is given back."""
    server, backend = hostile

    def attack():
        for name in ("an HPACK bomb (RFC 7541 7.3)", "a head without an end (6.10)", "a list of 2 MB (10.5.1)", "a flood of PING (10.5)"):
            backend.does = WHOLE[name]
            with at_once(*[lambda: server.request("/bad").status] * 10):
                pass

    attack()
    before = resident(server)
    for _ in range(2):
        attack()
    assert resident(server) - before < 4 << 20
    assert server.request("/good").body == b"ok"
