# SPDX-License-Identifier: Apache-2.0
"""WebSocket in a stream of HTTP/2 (RFC 8441). The tests of WebSocket itself run so too (CARRIER=h2)."""

import collections
import contextlib
import signal
import struct
import threading

import pytest

from harness import executable, http2
from harness.backend import Backend, configured
from harness.client import eventually
from harness.config import section
from harness.frames import CLOSE, TEXT, Raw
from harness.frames import frame as ws_frame
from harness.http2 import (CANCEL, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, NO_ERROR, PING, PROTOCOL_ERROR, RST_STREAM, SETTINGS,
                           WINDOW_UPDATE, Frames, frame)
from harness.plugins import path

HANDLERS = "Match ^/tunnel tunnel\n" + "".join(f"Match ^/{kind} sockets {kind}\n" for kind in ("echo", "group", "flood", "close"))
ENABLE_CONNECT_PROTOCOL = 8


def loads(*more):
    if not executable.plugin("http2"):
        pytest.skip("this build has no such plugin")
    names = [executable.plugin("http2"), path("sockets"), path("tunnel"), *more]
    return {"plugins.load": section("PLUGINS", "\n".join(f"Load {name}" for name in names))}


def config(server="", handlers=HANDLERS, **rest):
    return {"server": f"Listen 127.0.0.1:0 h2\n{server}", "handlers": handlers, "extra": loads(), "files": {"a.txt": "a"}, **rest}


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(**config())


@pytest.fixture
def client(server):
    with Client(server) as client:
        yield client


def asking(client, stream, target="/echo", protocol=None, fields=(), end=False, leave_out=(), version="13"):
    """The HEADERS of an extended CONNECT (RFC 8441 4, 5)."""
    protocol = ("tunnel" if target == "/tunnel" else "websocket") if protocol is None else protocol
    all_fields = [(":method", "CONNECT"), (":protocol", protocol), (":scheme", "http"), (":path", target),
                  (":authority", "localhost"), ("sec-websocket-version", version), *fields]
    kept = [(name, value) for name, value in all_fields if name not in leave_out]
    return frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, client.encoder.encode(kept))


def join(client, stream=1, target="/echo", **how):
    client.send(asking(client, stream, target, **how))
    head = client.until(HEADERS, RST_STREAM, stream=stream)
    assert head.kind == HEADERS and head.fields[b":status"] == b"200" and not head.flags & END_STREAM
    return head.fields


def data(stream, payload, end=False):
    return frame(DATA, END_STREAM if end else 0, stream, payload)


class Client(Frames):
    """Keeps what comes by streams."""

    def __init__(self, server, **how):
        super().__init__(("127.0.0.1", server.port), **how)
        self.got, self.ended = collections.defaultdict(bytes), set()

    def receive(self):
        one = super().receive()
        if one and one.kind == DATA:
            self.got[one.stream] += one.payload
            if one.flags & END_STREAM:
                self.ended.add(one.stream)
        return one


def came(client, stream, size):
    """So many bytes of a stream, at least."""
    while len(client.got[stream]) < size:
        assert client.until(DATA, RST_STREAM).kind == DATA
    return client.got.pop(stream)


def rest(client, stream):
    """All bytes of a stream until its end."""
    while stream not in client.ended:
        assert client.until(DATA, RST_STREAM).kind == DATA
    return client.got[stream]


def message(text):
    """As a server sends it."""
    return bytes([0x81, len(text)]) + text


# ---- the opening

def test_the_setting_is_offered(client):
    """RFC 8441 3"""
    settings = client.until(SETTINGS).payload
    pairs = dict(struct.unpack(">HI", settings[at:at + 6]) for at in range(0, len(settings), 6))
    assert pairs[ENABLE_CONNECT_PROTOCOL] == 1


def test_a_message_comes_back(client):
    """RFC 8441 5: no field of HTTP/1.1's handshake"""
    fields = join(client)
    assert not {b"upgrade", b"connection", b"sec-websocket-accept", b"content-length"} & set(fields)
    client.send(data(1, ws_frame(TEXT, b"hello")))
    assert came(client, 1, 7) == message(b"hello")


def test_what_is_negotiated_is_answered(client):
    assert join(client, fields=[("sec-websocket-protocol", "good, best")])[b"sec-websocket-protocol"] == b"best"


@pytest.mark.parametrize("how, status", [
    ({"version": "8"}, 426), ({"leave_out": ["sec-websocket-version"]}, 426), ({"fields": [("origin", "http://evil.example")]}, 403),
    ({"protocol": "other"}, 426), ({"target": "/a.txt"}, 501), ({"target": "/nothing"}, 404),
])
def test_refusals_are_those_of_http_1(client, how, status):
    """RFC 8441 5; an answer that is no change of protocol says nothing of success (RFC 9110 9.3.6)"""
    client.send(asking(client, 1, **how))
    assert client.answer(1)[0] == status
    join(client, 3)


@pytest.mark.parametrize("how", [
    {"leave_out": [":scheme"]}, {"leave_out": [":path"]}, {"leave_out": [":authority"]}, {"protocol": ""}, {"protocol": "web socket"},
    {"protocol": "a, b"}, {"fields": [("connection", "upgrade")]}, {"fields": [("upgrade", "websocket")]},
    {"fields": [(":protocol", "websocket")]},
], ids=str)
def test_malformed_openings_are_reset(client, how):
    """RFC 8441 4, RFC 9113 8.1.1, 8.2.2"""
    client.send(asking(client, 1, **how))
    answer = client.answer(1)
    assert answer == PROTOCOL_ERROR or (isinstance(answer, tuple) and answer[0] == 400), answer
    join(client, 3)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_protocol_belongs_to_connect(client, method):
    """RFC 8441 4"""
    client.send(frame(HEADERS, END_HEADERS, 1, client.encoder.encode([
        (":method", method), (":scheme", "http"), (":path", "/echo"), (":authority", "a"), (":protocol", "websocket")])))
    assert client.answer(1) == PROTOCOL_ERROR


def test_a_setting_above_1_ends_the_connection(server):
    """RFC 8441 3"""
    with Client(server, settings=struct.pack(">HI", ENABLE_CONNECT_PROTOCOL, 2)) as client:
        assert client.until(GOAWAY).code == PROTOCOL_ERROR


def test_connect_without_a_protocol_needs_a_proxy(client):
    """RFC 9113 8.5"""
    client.send(frame(HEADERS, END_HEADERS, 1, client.encoder.encode([(":method", "CONNECT"), (":authority", "localhost:80")])))
    answer = client.answer(1)
    assert answer[0] in (404, 405, 501), answer
    join(client, 3)


# ---- bytes both ways

def test_requests_and_sockets_share_a_connection(client):
    """Two sockets, and requests meanwhile"""
    join(client, 1)
    join(client, 3, "/tunnel")
    client.send(client.head(5, "/a.txt"))
    assert client.answer(5) == (200, b"a")
    client.send(data(3, b"raw"), data(1, ws_frame(TEXT, b"one")))
    assert (came(client, 1, 5), came(client, 3, 3)) == (message(b"one"), b"raw")


def test_bytes_that_come_with_the_request_are_kept(client):
    client.send(asking(client, 1, "/tunnel") + data(1, b"early"))
    assert client.until(HEADERS).fields[b":status"] == b"200"
    assert came(client, 1, 5) == b"early"


def test_the_end_of_the_clients_bytes(client):
    """END_STREAM is the end of input (RFC 8441 5): what was sent before it is answered."""
    join(client, 1, "/tunnel")
    client.send(data(1, b"last words", end=True))
    assert rest(client, 1) == b"last words"


def test_end_stream_with_the_opening(client):
    client.send(asking(client, 1, "/tunnel", end=True))
    assert client.until(HEADERS).fields[b":status"] == b"200"
    assert rest(client, 1) == b""


def test_the_servers_close_ends_the_stream(client):
    """After the closing handshake: END_STREAM, and a stream that its client leaves open is reset (RFC 9113 8.1)."""
    join(client)
    client.send(data(1, ws_frame(CLOSE, struct.pack(">H", 1000))))
    assert rest(client, 1) == b"\x88\x02\x03\xe8"
    client.send(data(1, b"nobody reads this"))
    assert client.until(RST_STREAM, stream=1).code == NO_ERROR
    client.send(client.head(3, "/a.txt"))
    assert client.answer(3) == (200, b"a")


def test_a_reset_ends_the_socket(start):
    """RFC 8441 5: RST_STREAM with CANCEL is what a lost connection is in HTTP/1"""
    server = start(**config())
    with Client(server) as client:
        join(client)
        client.send(frame(RST_STREAM, 0, 1, CANCEL.to_bytes(4, "big")))
        server.wait_for_log("websocket ended 1006")
        join(client, 3)
        client.send(data(3, ws_frame(TEXT, b"hello")))
        assert came(client, 3, 7) == message(b"hello")
    assert eventually(lambda: server.log().count("websocket ended 1006") == 2)


def test_a_broken_frame_is_the_sockets_own_matter(client):
    join(client)
    join(client, 3)
    client.send(data(1, b"\x81\x01a"))  # not masked
    got = came(client, 1, 4)
    assert (got[0], got[2:4]) == (0x88, struct.pack(">H", 1002))
    client.send(data(3, ws_frame(TEXT, b"hello")))
    assert came(client, 3, 7) == message(b"hello")


def test_a_group_has_members_of_both_protocols(server, client):
    """One broadcast for HTTP/1 and HTTP/2"""
    joined = message(b"joined")
    join(client, 1, "/group")
    join(client, 3, "/group")
    assert came(client, 1, len(joined)) == came(client, 3, len(joined)) == joined
    with Raw(server, "/group") as other:
        assert other.hear() == "joined"
        other.say("to all")
        assert came(client, 1, 8) == came(client, 3, 8) == message(b"to all")
        assert other.hear() == "to all"


# ---- flow control

def test_a_client_without_a_window_gets_nothing(server):
    """RFC 8441 5, RFC 9113 5.2"""
    with Client(server, settings=struct.pack(">HI", 4, 0)) as client:
        join(client, 1, "/tunnel")
        client.send(data(1, b"hello"), client.head(3, "/nothing", method="HEAD"))
        assert client.until(HEADERS, DATA).kind == HEADERS
        client.send(frame(WINDOW_UPDATE, 0, 1, (3).to_bytes(4, "big")))
        assert came(client, 1, 3) == b"hel"
        client.send(frame(WINDOW_UPDATE, 0, 1, (2).to_bytes(4, "big")))
        assert came(client, 1, 2) == b"lo"


def test_what_waits_for_a_slow_reader_is_bounded(server):
    """An echo that cannot send does not read: its client's window is not given back."""
    with Client(server, settings=struct.pack(">HI", 4, 0)) as client:
        join(client, 1, "/tunnel")
        window, sent = {0: 65535, 1: 65535}, 0
        client.sock.settimeout(1)
        with contextlib.suppress(TimeoutError):
            while sent < 1 << 20:
                size = min(16384, *window.values())
                if size:
                    client.send(data(1, b"x" * size))
                    sent += size
                    window = {stream: left - size for stream, left in window.items()}
                else:
                    one = client.until(WINDOW_UPDATE, RST_STREAM, GOAWAY)
                    assert one.kind == WINDOW_UPDATE
                    window[one.stream] += int.from_bytes(one.payload, "big")
        assert 65535 <= sent < 512 << 10
        client.sock.settimeout(30)
        client.send(frame(WINDOW_UPDATE, 0, 0, (1 << 20).to_bytes(4, "big")), frame(WINDOW_UPDATE, 0, 1, (1 << 20).to_bytes(4, "big")))
        assert len(came(client, 1, sent)) == sent


def test_much_passes_both_ways(server):
    with Client(server, settings=struct.pack(">HI", 4, 1 << 30)) as client:
        client.send(frame(WINDOW_UPDATE, 0, 0, (1 << 30).to_bytes(4, "big")))
        join(client, 1, "/tunnel")
        window, sent, got = {0: 65535, 1: 65535}, 0, 0
        while got < 1 << 20:
            size = min(16384, *window.values(), (1 << 20) - sent)
            if size > 0:
                client.send(data(1, b"y" * size))
                sent += size
                window = {stream: left - size for stream, left in window.items()}
                continue
            one = client.until(WINDOW_UPDATE, DATA, RST_STREAM, GOAWAY)
            assert one.kind in (WINDOW_UPDATE, DATA)
            if one.kind == DATA:
                got += len(one.payload)
            else:
                window[one.stream] += int.from_bytes(one.payload, "big")


# ---- ends of the whole connection

def test_a_stop_tells_sockets_and_waits_for_them(start):
    """GOAWAY ends no stream that was begun (RFC 9113 6.8)."""
    server = start(**config(server="GracefulTimeout 20"))
    with Client(server) as client:
        join(client)
        server.signal(signal.SIGTERM)
        assert came(client, 1, 4) == b"\x88\x02" + struct.pack(">H", 1001)
        client.send(data(1, ws_frame(CLOSE, struct.pack(">H", 1001)), end=True))
        while client.receive():
            pass
    assert server.expect_exit() == 0


def test_time_outs_of_http_end_no_socket(start):
    """Quiet sockets keep their connection."""
    server = start(**config(server="Timeout 1\nKeepAliveTimeout 1\nWriteTimeout 1\nBodyTimeout 1"))
    with Client(server, settings=struct.pack(">HI", 4, 0)) as client:
        join(client, 1, "/tunnel")
        client.send(data(1, b"hello"))
        client.sock.settimeout(2.2)
        with pytest.raises(TimeoutError):
            client.until(DATA, RST_STREAM, GOAWAY)
        client.sock.settimeout(30)
        client.send(frame(WINDOW_UPDATE, 0, 1, (5).to_bytes(4, "big")))
        assert came(client, 1, 5) == b"hello"


def test_a_lost_connection_ends_all_its_sockets(start):
    server = start(**config())
    with Client(server) as client:
        for stream in range(1, 21, 2):
            join(client, stream)
    assert eventually(lambda: server.log().count("websocket ended 1006") == 10)


# ---- through the proxy

def upgraded(conn):
    request = conn.request()
    assert (request.method, request.header("Upgrade"), request.header("Connection")) == ("GET", "websocket", "upgrade")
    conn.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: "
              + http2.accept_key(request.header("Sec-WebSocket-Key").encode()) + b"\r\n\r\nfirst")


def shout(conn):
    upgraded(conn)
    while piece := conn.sock.recv(65536):
        conn.send(piece.upper())


def proxying(one):
    if not executable.plugin("http2"):
        pytest.skip("this build has no such plugin")
    return configured("", one, plugins=("http2",), server="Listen 127.0.0.1:0 h2")


def test_the_proxy_speaks_http_1_with_its_backend(start):
    """RFC 8441 5: an intermediary changes one handshake into the other."""
    with Backend(shout) as backend:
        server = start(**proxying(backend))
        with Client(server) as client:
            assert b"sec-websocket-accept" not in join(client, 1, "/chat")
            assert came(client, 1, 5) == b"first"
            client.send(data(1, b"hello"))
            assert came(client, 1, 5) == b"HELLO"
            client.send(data(1, b"bye", end=True))
            assert rest(client, 1) == b"BYE"


@pytest.mark.parametrize("reset", [False, True])
def test_a_client_that_leaves_ends_the_backends_connection(start, reset):
    ended = []

    def serve(conn):
        upgraded(conn)
        ended.append(conn.ended())

    with Backend(serve) as backend:
        server = start(**proxying(backend))
        with Client(server) as client:
            join(client, 1, "/chat")
            if reset:
                client.send(frame(RST_STREAM, 0, 1, CANCEL.to_bytes(4, "big")))
                assert eventually(lambda: ended == [True])
        assert eventually(lambda: ended == [True])


def test_a_backend_that_leaves_ends_the_stream(start):
    with Backend(upgraded) as backend:
        server = start(**proxying(backend))
        with Client(server) as client:
            join(client, 1, "/chat")
            assert rest(client, 1) == b"first"


def test_a_backend_that_does_not_know_the_key_is_no_websocket(start):
    """RFC 6455 4.1: the client cannot check it (RFC 8441 5)"""
    def serve(conn):
        conn.request()
        conn.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n")
        conn.ended()

    with Backend(serve) as backend:
        server = start(**proxying(backend))
        with Client(server) as client:
            client.send(asking(client, 1, "/chat"))
            assert client.answer(1)[0] == 502


def test_a_backend_that_refuses_is_heard(start):
    with Backend(each=lambda conn, request: conn.answer(b"no", "403 Forbidden")) as backend:
        server = start(**proxying(backend))
        with Client(server) as client:
            client.send(asking(client, 1, "/chat"))
            assert client.answer(1) == (403, b"no")


def test_bytes_for_a_backend_that_refused_give_their_window_back(start):
    """RFC 9113 6.9.1: nobody reads what came before the refusal, and the client comes to its end"""
    came_first = threading.Event()

    def refuse(conn, _request):
        came_first.wait(10)
        conn.answer(b"no", "403 Forbidden")

    with Backend(each=refuse) as backend:
        server = start(**proxying(backend))
        with Client(server) as client:
            client.send(asking(client, 1, "/chat"), *[data(1, bytes(16000))] * 4, frame(PING, 0, 0, bytes(8)))
            client.until(PING)
            came_first.set()
            assert client.until(WINDOW_UPDATE, RST_STREAM, stream=1).kind == WINDOW_UPDATE
            client.send(data(1, bytes(16000), end=True), asking(client, 3, "/chat"))
            assert client.answer(3) == (403, b"no")


def test_a_backend_that_does_not_change_has_not_succeeded(start):
    with Backend(each=lambda conn, request: conn.answer(b"a page")) as backend:
        server = start(**proxying(backend))
        with Client(server) as client:
            client.send(asking(client, 1, "/chat"))
            assert client.answer(1) == (501, b"")
            client.send(client.head(3, "/chat"))
            assert client.answer(3) == (200, b"a page")
