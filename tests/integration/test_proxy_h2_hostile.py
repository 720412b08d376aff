# SPDX-License-Identifier: Apache-2.0
"""Backends that speak HTTP/2 and break its rules, and memory that is missing behind them."""

import pytest

from harness import executable, http
from harness.backend import configured, proxy
from harness.content import noise
from harness.frames import OPENING
from harness.h2_backend import H2Backend, Orderly, at_once, settings
from harness.h2_front import ONE, PLAIN, frames
from harness.http2 import (CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PADDED, PING, PRIORITY, PUSH_PROMISE, RST_STREAM,
                           SETTINGS, WINDOW_UPDATE, frame)


# ---- memory that is missing ----

@pytest.mark.slow
@pytest.mark.limit(600)
@pytest.mark.parametrize("request_text", [
    http.request("/"), http.request("/large"), http.request("/", "POST", body=b"x" * 50_000),
    http.request("/", "POST", headers={"Transfer-Encoding": "chunked"}, body=http.chunked(b"a" * 5000, b"b")),
    http.request("/", headers=OPENING) + b"y" * 30_000,
], ids=["small", "large", "body", "chunks", "tunnel"])
def test_allocations_that_fail(start, allocations, request_text):
    """Allocation 1, 2, ... n of an exchange, over a connection that is made for it: an error or a cut answer, and the next is served."""
    def each(peer, request):
        peer.answer(request.stream, b"l" * 50_000 if request.path == "/large" else b"ok", trailers=[("x-sum", "1")])
        if request.path != "/again":
            peer.goaway(request.stream)

    def join(peer, request):
        peer.send(peer.reply(request.stream))
        peer.until_true(lambda: request.is_whole or request.stream in peer.resets)
        peer.send(frame(DATA, END_STREAM, request.stream, b"bye"))
        peer.goaway(request.stream)

    def serve(peer):
        while request := peer.request(whole=False):
            if request.method == "CONNECT":
                join(peer, request)
            elif peer.until_true(lambda request=request: request.is_whole or request.stream in peer.resets):
                each(peer, request)

    with H2Backend(serve, payload=settings(ENABLE_CONNECT_PROTOCOL=1)) as backend:
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
    before = server.anonymous_bytes()
    for _ in range(2):
        attack()
    assert server.anonymous_bytes() - before < 4 << 20
    assert server.request("/good").body == b"ok"
