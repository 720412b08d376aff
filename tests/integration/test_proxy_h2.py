# SPDX-License-Identifier: Apache-2.0
"""Backends that speak HTTP/2: what they get, what clients get, and how connections are shared and replaced."""

import contextlib
import time

import pytest

from harness import executable, http
from harness.backend import Backend, configured, proxy
from harness.client import PATIENCE, eventually, free_port
from harness.content import noise
from harness.h2_backend import (INITIAL_WINDOW_SIZE, MAX_CONCURRENT_STREAMS, H2Backend, Orderly, Peer, at_once, settings)
from harness.http2 import (ACK, CANCEL, DATA, END_STREAM, HEADERS, NO_ERROR, PADDED, PING, REFUSED_STREAM, RST_STREAM, SETTINGS, Frames, H2Socket,
                           frame)

BIG = noise(300_000)
ONE = "Workers 1\n"
QUIET = "HealthRise 1\n"


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
        assert [value for _, value in seen.fields[:4]] == ["GET", "http", backend.address, "/a?b"] or seen.get(":authority") == "app.example:81"
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
        with at_once(*[lambda n=n: server.request("/", method, body=b"%d" % n if method == "POST" else b"").body for n in range(4)]) as answers:
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
    """504, and RST_STREAM with CANCEL; the connection is asked by PING whether it lives, and goes on when it does (RFC 9113 section 6.7)."""
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
            began = time.monotonic()
            assert c.request("/").status == 502
            assert time.monotonic() - began < 5
        server.wait_for_log("proxy (backend )?failed")


def test_a_backend_that_closes_at_once(start):
    with Backend(lambda conn: None) as backend:
        server = start(**front("OfflineTimeOut 0", backend))
        assert server.request("/", "POST", body=b"x").status == 502
        assert backend.connections <= 4
