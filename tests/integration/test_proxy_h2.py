# SPDX-License-Identifier: Apache-2.0
"""Backends that speak HTTP/2: what they get, and what clients get."""

import time

import pytest

from harness import http
from harness.client import eventually
from harness.content import noise
from harness.h2_backend import H2Backend, Orderly, settings
from harness.h2_front import PLAIN, client, frames, front, protocol  # noqa: F401
from harness.http2 import CANCEL, DATA, END_STREAM, HEADERS, NO_ERROR, PADDED, RST_STREAM, SETTINGS, frame

BIG = noise(300_000)


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
        before = server.anonymous_bytes()
        with server.connect(receive_buffer=4096) as slow:
            slow.send(http.request("/big"))
            assert eventually(lambda: len(backend.requests) == 1)
            for _ in range(20):
                assert server.request("/").body == b"ok"
                time.sleep(0.02)
            assert server.anonymous_bytes() - before < 8 << 20
        assert eventually(lambda: [code for _, code in backend.resets] == [CANCEL])
        assert server.request("/").body == b"ok"
        assert backend.connections == 1


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
