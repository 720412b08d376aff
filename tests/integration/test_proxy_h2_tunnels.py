# SPDX-License-Identifier: Apache-2.0
"""Tunnels to backends that speak HTTP/2: an extended CONNECT (RFC 8441) for the Upgrade of a client, and for its extended CONNECT."""

import contextlib
import json
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time

import pytest

from harness import executable, http, plugins
from harness.backend import Backend, configured
from harness.client import eventually, free_port
from harness.config import section
from harness.content import noise
from harness.frames import BINARY, OPENING, Raw
from harness.frames import frame as ws_frame
from harness.h2_backend import H2Backend, settings, tunnels
from harness.h2_front import ONE, front, protocol  # noqa: F401
from harness.http2 import (CANCEL, CONNECT_ERROR, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, NO_ERROR, PROTOCOL_ERROR,
                           REFUSED_STREAM, RST_STREAM, SETTINGS, WINDOW_UPDATE, H2Socket, accept_key, frame)
from harness.logs import wait_for_lines
from test_http2_websocket import Client, came, join


BIG = noise(3_000_000)
ECHO = {"Connection": "Upgrade", "Upgrade": "tunnel"}
SERVICES = "".join(f"Match ^/{kind} sockets {kind}\n" for kind in ("echo", "close", "suite")) + "Match ^/tunnel tunnel\n"
TAKES = settings(ENABLE_CONNECT_PROTOCOL=1)


class Door:
    """A server, as clients of a protocol come to it."""

    def __init__(self, server, protocol):
        self.server, self.protocol = server, protocol

    def connect(self, **how):
        connection = self.server.connect(**how)
        if self.protocol == "h2":
            connection.sock = H2Socket(connection.sock)
        return connection

    def upgrade(self, target="/tunnel", headers=ECHO, behind=b"", **how):
        """@return a connection that is a tunnel."""
        connection = self.connect(**how)
        connection.send(http.request(target, headers=headers) + behind)
        head = http.read_head(connection.stream)
        assert head.status == 101, head.status
        connection.head = head
        return connection

    def ask(self, target="/", headers=OPENING):
        """A tunnel that is refused."""
        with self.connect() as connection:
            return connection.request(target, headers=headers)


def service(start, backend_protocol="h2", server=ONE):
    """Our own server, with an echo of WebSocket and of another protocol."""
    if not executable.plugin("http2"):
        pytest.skip("this build has no such plugin")
    names = [executable.plugin("http2"), plugins.path("sockets"), plugins.path("tunnel")]
    return start(server=server + (f"Listen 127.0.0.1:0 {backend_protocol}\n" if backend_protocol == "h2" else ""), handlers=SERVICES,
                 extra={"plugins.load": section("PLUGINS", "\n".join(f"Load {name}" for name in names))})


@pytest.fixture(params=["h1", "h2"])
def through(request, start, protocol):
    """A client of either protocol, a proxy, and a backend of either protocol."""
    behind = service(start, request.param)
    place = f"127.0.0.1:{behind.port}"
    said = front("", place) if request.param == "h2" else configured(
        "", place, plugins=("http2",), server=f"Listen 127.0.0.1:0 h2\n{ONE}")
    door = Door(start(**said), protocol)
    door.behind, door.said = behind, said
    return door


# ---- the four ways ----

def test_websocket(through):
    """RFC 8441 section 5: the key is answered by the one that had it; what is negotiated passes."""
    with Raw(through, "/echo", **{"Sec-WebSocket-Protocol": "good, best"}) as one:
        assert one.head.header("Sec-WebSocket-Protocol") == "best"
        assert not one.head.all("Content-Length") and not one.head.all("Transfer-Encoding")
        for text in ("hello", "x" * 70_000):
            one.say(text)
            assert one.hear() == text
        one.leave()
        assert one.connection.rest() == b""


def test_a_close_by_the_service(through):
    with Raw(through, "/close") as one:
        one.say("4321 why")
        assert one.closed() in (4321, 1000)


def test_large_messages(through):
    with Raw(through, "/suite") as one:
        one.send(ws_frame(BINARY, BIG))
        assert one.receive() == (BINARY, BIG)


def test_many_messages_are_no_flood(through):
    """RFC 9113 section 10.5: small ones, each of them answered."""
    with Raw(through, "/echo") as one:
        for n in range(1500):
            one.say(str(n))
            assert one.hear() == str(n)


def test_bytes_both_ways_at_once(through):
    with through.upgrade(behind=b"early") as c:
        assert c.stream.exactly(5) == b"early"
        for size in (1, 1000, 60_000):
            c.send(BIG[:size])
            assert c.stream.exactly(size) == BIG[:size]


def test_half_close(through):
    """END_STREAM stands for the end of input (RFC 8441 section 5): what was sent before comes back, and then the end."""
    with through.upgrade() as c:
        c.send(BIG[:200_000])
        c.finish_sending()
        assert c.rest() == BIG[:200_000]


def test_a_service_that_refuses(through):
    """Its answer passes as it is."""
    answer = through.ask("/echo", {**OPENING, "Sec-WebSocket-Version": "8"})
    assert answer.status == 426 and answer.header("Sec-WebSocket-Version") == "13"
    assert through.ask("/nothing").status == 404
    with Raw(through, "/echo") as one:
        one.say("on")
        assert one.hear() == "on"


def test_many_tunnels_share_a_connection(start, protocol):
    behind = service(start)
    server = start(**front("MaxConnections 2\nName one", f"127.0.0.1:{behind.port}"))
    door = Door(server, protocol)
    with contextlib.ExitStack() as stack:
        all_of_them = [stack.enter_context(Raw(door, "/echo")) for _ in range(120)]  # 100 streams each
        for n, one in enumerate(all_of_them):
            one.say(str(n))
        for n, one in enumerate(all_of_them):
            assert one.hear() == str(n)
        assert server.request("/nothing").status == 404


@pytest.mark.parametrize("end", ["finish", "reset", "close"])
def test_clients_that_leave(through, end):
    """The service hears of it: RST_STREAM with CANCEL (RFC 8441 section 5), or an end."""
    before = through.behind.log().count("websocket ended")
    one = Raw(through, "/echo")
    one.say("x")
    assert one.hear() == "x"
    if end == "finish":
        one.connection.finish_sending()
    elif end == "reset":
        if through.protocol == "h2":
            one.connection.sock._raw.close()
        else:
            one.connection.reset()
    one.connection.close()
    assert eventually(lambda: through.behind.log().count("websocket ended") > before)
    with Raw(through, "/echo") as other:
        other.say("y")
        assert other.hear() == "y"


def test_the_service_is_gone(through):
    with Raw(through, "/echo") as one:
        through.behind.kill()
        with contextlib.suppress(ConnectionResetError):
            assert one.connection.rest() == b""


def test_a_reload_leaves_tunnels_alone(through):
    """Those of configurations that nothing else uses any more."""
    with Raw(through, "/echo") as one, Raw(through, "/echo") as two:
        for n in range(3):
            through.server.reload(**through.said)
            assert through.server.request("/nothing").status == 404
            one.say(str(n))
            assert one.hear() == str(n)
        one.leave()
        two.say("more")
        assert two.hear() == "more"
    with Raw(through, "/echo") as one:
        one.say("new")
        assert one.hear() == "new"


def test_a_stop_ends_tunnels(through):
    with Raw(through, "/echo") as one:
        through.server.reload(**through.said)
        with Raw(through, "/echo") as two:
            through.server.signal(signal.SIGTERM)
            if through.protocol == "h1":  # the client of HTTP/2 reads nothing after GOAWAY
                assert one.connection.is_closed() and two.connection.is_closed()
            assert through.server.expect_exit() == 0


# ---- what a backend sees, and says ----

def accept(peer, request, status=200, fields=(), end=False):
    peer.send(peer.reply(request.stream, status, fields, end))


def echo(peer, request):
    """Bytes come back, and the end too."""
    accept(peer, request)
    sent = 0
    while peer.next():
        if request.body[sent:]:
            peer.data(request.stream, request.body[sent:])
            sent = len(request.body)
        if request.is_whole:
            peer.send(frame(DATA, END_STREAM, request.stream))
            return
        if request.stream in peer.resets:
            return


def opened(door, **fields):
    return door.upgrade("/chat?x", {**OPENING, **fields})


def test_what_a_backend_sees(start, protocol):
    """RFC 8441 sections 4 and 5: nothing of HTTP/1.1's handshake, and all else."""
    with tunnels(echo) as backend:
        door = Door(start(**front("", backend)), protocol)
        with opened(door, **{"Sec-WebSocket-Extensions": "permessage-deflate", "X-Kept": "Yes"}) as c:
            assert c.head.header("Upgrade") == "websocket"
            assert c.head.header("Sec-WebSocket-Accept") == accept_key(OPENING["Sec-WebSocket-Key"].encode()).decode()
            c.send(b"abc")
            assert c.stream.exactly(3) == b"abc"
            c.finish_sending()
            assert c.rest() == b""
        request = backend.peers[0].requests[1]
        assert [name for name, _ in request.fields][:5] == [":method", ":protocol", ":scheme", ":authority", ":path"]
        assert [value for _, value in request.fields][:5] == ["CONNECT", "websocket", "http", "localhost", "/chat?x"]
        assert request.get("sec-websocket-version") == "13" and request.get("x-kept") == "Yes"
        assert request.get("sec-websocket-extensions") == "permessage-deflate"
        assert request.get("x-forwarded-for") == "127.0.0.1"
        gone = {"connection", "upgrade", "host", "sec-websocket-key", "sec-websocket-accept", "content-length", "transfer-encoding"}
        assert not gone & {name for name, _ in request.fields}


def test_another_protocol(start, protocol):
    """Its token passes (RFC 8441 section 4), the first of several."""
    with tunnels(echo) as backend:
        door = Door(start(**front("", backend)), protocol)
        upgrade = "chat/2, other" if protocol == "h1" else "chat"
        with door.upgrade(headers={"Connection": "Upgrade", "Upgrade": upgrade}) as c:
            assert c.head.header("Upgrade") in ("chat/2", upgrade)
            c.send(b"abc")
            assert c.stream.exactly(3) == b"abc"
        assert backend.peers[0].requests[1].get(":protocol") == upgrade.split(",")[0]


@pytest.mark.parametrize("headers", [
    {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAMAAABkAARAAAAAAAIAAAAA"},
    {"Connection": "Upgrade", "Upgrade": "websocket, h2c"}, {"Upgrade": "websocket"}], ids=["h2c", "one of two", "no option"])
def test_what_is_no_upgrade(start, headers):
    """h2c never passes (RFC 9113 section 3.1), and Upgrade is an option of Connection (RFC 9110 section 7.8)."""
    with H2Backend(payload=TAKES) as backend:
        server = start(**front("", backend))
        assert server.get("/", headers).body == b"ok"
        assert backend.requests[0].method == "GET" and backend.requests[0].get("upgrade") is None


def test_other_methods_are_no_upgrade(start):
    """CONNECT takes the place of GET alone."""
    with H2Backend(payload=TAKES) as backend:
        server = start(**front("", backend))
        with server.connect() as c:
            assert c.request("/", "POST", headers={**OPENING, "Content-Length": "0"}).body == b"ok"
        assert backend.requests[0].method == "POST"


@pytest.mark.parametrize("key", [None, "", "x", "AAAAAAAAAAAAAAAAAAAAAAA=", "two"])
def test_a_key_that_is_none(start, key):
    """RFC 6455 section 4.2.1: a backend of HTTP/2 cannot see it, so the proxy does."""
    with tunnels(echo) as backend:
        server = start(**front("", backend))
        lines = {"two": "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" * 2, None: ""}.get(key, f"Sec-WebSocket-Key: {key}\r\n")
        with server.connect() as c:
            c.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                   f"{lines}\r\n")
            assert c.response().status == 400
        assert not any(peer.requests for peer in backend.peers)


@pytest.mark.parametrize("status, fields", [(200, []), (204, []), (200, [("content-length", "7")]), (299, [("sec-websocket-accept", "x")])])
def test_answers_that_open_a_tunnel(start, protocol, status, fields):
    """Any 2xx, whose Content-Length means nothing (RFC 9110 section 9.3.6)."""
    def serve(peer, request):
        peer.send(peer.reply(request.stream, 103, [("link", "</x>")]))
        accept(peer, request, status, [*fields, ("x-kept", "yes")])
        peer.data(request.stream, b"far more than seven", end=True)

    with tunnels(serve) as backend:
        door = Door(start(**front("", backend)), protocol)
        with door.connect() as c:
            c.send(http.request("/", headers=OPENING))
            head = http.read_head(c.stream)
            if head.status == 103:
                head = http.read_head(c.stream)
            assert head.status == 101 and head.header("X-Kept") == "yes" and not head.all("Content-Length")
            assert head.all("Sec-WebSocket-Accept") == [accept_key(OPENING["Sec-WebSocket-Key"].encode()).decode()]
            assert c.rest() == b"far more than seven"


@pytest.mark.parametrize("status", [300, 400, 401, 403, 404, 426, 500, 503])
@pytest.mark.parametrize("body", [b"", b"no" * 20_000], ids=["empty", "long"])
def test_answers_that_open_none(start, protocol, status, body):
    """They pass, their stream ends from our side too, and the connection is used again."""
    with tunnels(lambda peer, q: peer.answer(q.stream, body, status, [("x-kept", "yes")])) as backend:
        door = Door(start(**front("", backend)), protocol)
        for _ in range(3):
            answer = door.ask()
            assert (answer.status, answer.body, answer.header("X-Kept")) == (status, body, "yes")
        peer = backend.peers[0]
        assert backend.connections == 1
        assert eventually(lambda: all(q.is_whole or q.stream in peer.resets for q in peer.requests.values()) or not peer.next())


def test_a_refusal_ends_by_end_stream(start):
    """A reset for each would look like an attack (RFC 9113 section 10.5)."""
    with tunnels(lambda peer, q: peer.answer(q.stream, b"no", 403)) as backend:
        server = start(**front("", backend))
        for _ in range(50):
            assert server.get("/", OPENING).status == 403
        assert eventually(lambda: sum(q.is_whole for q in backend.peers[0].requests.values()) >= 49)
        assert not backend.peers[0].resets


@pytest.mark.parametrize("payload", [b"", settings(ENABLE_CONNECT_PROTOCOL=0)], ids=["none", "zero"])
def test_a_backend_without_tunnels(start, protocol, payload):
    """RFC 8441 section 3: without its setting none is asked for. The client is told, the log too, and the backend is not blamed."""
    with H2Backend(payload=payload) as backend:
        server = start(**front("OfflineTimeOut 60", backend))
        door = Door(server, protocol)
        for _ in range(5):
            assert door.ask().status == 501
        server.wait_for_log("the backend takes no tunnels over HTTP/2")
        assert server.request("/").body == b"ok"
        assert [q.method for q in backend.requests] == ["GET"] and backend.connections == 1


def test_a_setting_that_comes_late(start):
    """RFC 8441 section 3: it holds from then on."""
    def serve(peer, request):
        if request.method == "GET":
            peer.send(frame(SETTINGS, 0, 0, TAKES))
            peer.answer(request.stream)
        else:
            echo(peer, request)

    with tunnels(serve, settings=b"") as backend:
        server = start(**front("", backend))
        assert server.get("/", OPENING).status == 501
        assert server.request("/").body == b"ok"
        with opened(Door(server, "h1")) as c:
            c.send(b"abc")
            assert c.stream.exactly(3) == b"abc"
        assert backend.connections == 1


@pytest.mark.parametrize("step", [1, 9, 12, 15])
def test_settings_are_awaited(start, step):
    """Settings that come slowly, in pieces: the tunnel waits for the whole of them (RFC 9113 section 6.5)."""
    whole = frame(SETTINGS, 0, 0, settings(MAX_CONCURRENT_STREAMS=10, ENABLE_CONNECT_PROTOCOL=1))

    def serve(conn):
        data = b""
        while b"SM\r\n\r\n" not in data:
            data += conn.sock.recv(65536)
        for at in range(0, len(whole), step):
            assert b"\x01\x04\x00\x00\x00\x01" not in data
            conn.send(whole[at:at + step])
            time.sleep(0.02)
        while b"\x01\x04\x00\x00\x00\x01" not in data:  # HEADERS of stream 1, without its end
            data += conn.sock.recv(65536)
        conn.send(frame(HEADERS, END_HEADERS, 1, b"\x88") + frame(DATA, END_STREAM, 1, b"opened"))
        conn.ended()

    with Backend(serve) as backend:
        server = start(**front("", backend))
        with opened(Door(server, "h1")) as c:
            assert c.rest() == b"opened"


def test_settings_that_never_come(start, protocol):
    """It is the backend that is late: 504."""
    def serve(conn):
        while conn.sock.recv(65536):
            pass

    with Backend(serve) as backend:
        door = Door(start(**front("SendTimeout 300ms", backend)), protocol)
        assert door.ask().status == 504


# ---- ends ----

def test_a_backend_that_ends_first(start, protocol):
    """200 with END_STREAM, or DATA with it, is half an end: what the client sends still arrives (RFC 8441 section 5)."""
    def serve(peer, request):
        if request.path == "/chat?x":
            accept(peer, request)
            peer.data(request.stream, b"bye", end=True)
        else:
            accept(peer, request, end=True)
        peer.until_true(lambda: request.is_whole)

    with tunnels(serve) as backend:
        server = start(**front("", backend))
        for target, said in [("/chat?x", b"bye"), ("/other", b"")]:
            with Door(server, "h1").upgrade(target, OPENING) as c:
                assert c.rest() == said
                c.send(b"after")
                c.finish_sending()
                assert eventually(lambda target=target: any(q.path == target and q.body == b"after" and q.is_whole
                                                            for q in backend.peers[0].requests.values()))
        assert not backend.peers[0].resets


def test_a_backend_that_wants_no_more(start):
    """An end, and RST_STREAM with NO_ERROR behind it (RFC 9113 section 8.1): the client is not waited for."""
    def serve(peer, request):
        accept(peer, request)
        peer.data(request.stream, b"bye", end=True)
        peer.reset_stream(request.stream, NO_ERROR)

    with tunnels(serve) as backend:
        server = start(**front("StatisticsURL /stats", backend))
        with opened(Door(server, "h1")) as c:
            assert c.rest() == b"bye"
            assert eventually(lambda: facts(server)["active"] == 0)


def test_the_last_bytes_wait_for_a_window(start):
    """The client has gone, and the backend's window opens later: nothing is cut off (RFC 9113 section 6.9)."""
    may_open = threading.Event()

    def serve(peer, request):
        accept(peer, request)
        peer.data(request.stream, b"", end=True)
        peer.send(frame(DATA, END_STREAM, request.stream))
        may_open.wait(20)
        for _ in range(4):
            peer.open(request.stream, 10_000)
        peer.until_true(lambda: request.is_whole or request.stream in peer.resets)

    with tunnels(serve, settings=settings(ENABLE_CONNECT_PROTOCOL=1, INITIAL_WINDOW_SIZE=0), opens=False) as backend:
        server = start(**front("", backend))
        with opened(Door(server, "h1")) as c:
            c.send(BIG[:30_000])
            c.finish_sending()
            assert c.rest() == b""
            time.sleep(0.1)
            may_open.set()
            assert eventually(lambda: backend.peers[0].requests[1].is_whole)
        assert backend.peers[0].requests[1].body == BIG[:30_000] and not backend.peers[0].resets


def test_what_came_before_a_reset(start, protocol):
    def serve(peer, request):
        peer.send(peer.reply(request.stream, 200) + frame(DATA, 0, request.stream, b"last words")
                  + frame(RST_STREAM, 0, request.stream, struct.pack(">I", CANCEL)))

    with tunnels(serve) as backend:
        door = Door(start(**front("", backend)), protocol)
        with opened(door) as c, contextlib.suppress(ConnectionResetError):
            assert c.stream.exactly(10) == b"last words"
            assert c.rest() == b""
        assert backend.connections == 1


@pytest.mark.parametrize("how", ["a stream", "a connection", "a connection of HTTP/1.1"])
def test_a_backend_that_breaks_is_no_end(start, how):
    """RFC 9113 section 8.5: CONNECT_ERROR tells a client of HTTP/2 that more was to come."""
    def serve(peer, request):
        accept(peer, request)
        peer.data(request.stream, b"last words")
        peer.until_true(lambda: request.body)
        if how == "a stream":
            peer.reset_stream(request.stream, CANCEL)
        else:
            peer.reset()

    def serve_plainly(conn):
        key = conn.request().header("Sec-WebSocket-Key").encode()
        conn.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: "
                  + accept_key(key) + b"\r\n\r\nlast words")
        conn.exactly(1)
        conn.reset()

    is_plain = how == "a connection of HTTP/1.1"
    with Backend(serve_plainly) if is_plain else tunnels(serve) as backend:
        said = configured("", backend, plugins=("http2",), server="Listen 127.0.0.1:0 h2") if is_plain else front("", backend)
        with Client(start(**said)) as c:
            join(c, 1)
            assert came(c, 1, 10) == b"last words"
            c.send(frame(DATA, 0, 1, b"x"))
            end = c.until(RST_STREAM, DATA)
            assert (end.kind, end.code) == (RST_STREAM, CONNECT_ERROR)


def test_a_client_that_resets(start, protocol):
    """RFC 8441 section 5: CANCEL, and the connection goes on."""
    with tunnels(echo) as backend:
        server = start(**front("", backend))
        c = opened(Door(server, protocol))
        c.send(b"x")
        assert c.stream.exactly(1) == b"x"
        if protocol == "h2":
            c.sock.reset_joined(CANCEL)
        else:
            c.reset()
        assert eventually(lambda: backend.peers[0].resets == {1: CANCEL})
        with opened(Door(server, protocol)) as c:
            c.send(b"abc")
            assert c.stream.exactly(3) == b"abc"
        assert backend.connections == 1


def test_goaway(start, protocol):
    """Tunnels below its number go on, and new ones come over another connection (RFC 9113 section 6.8)."""
    def serve(peer, request):
        if request.path == "/first":
            peer.goaway(request.stream)
        echo(peer, request)

    with tunnels(serve) as backend:
        door = Door(start(**front("", backend)), protocol)
        with door.upgrade("/first", OPENING) as one, opened(door) as two:
            for c in (one, two, one):
                c.send(b"abc")
                assert c.stream.exactly(3) == b"abc"
            one.finish_sending()
            assert one.rest() == b""
        assert backend.connections == 2


def test_a_tunnel_that_was_not_seen_is_asked_for_again(start, protocol):
    """RFC 9113 section 8.7"""
    def serve(peer, request):
        with backend.lock:
            backend.asked += 1
        if backend.asked == 1:
            peer.reset_stream(request.stream, REFUSED_STREAM)
        elif backend.asked == 2:
            peer.goaway(0)
        else:
            echo(peer, request)

    with tunnels(serve) as backend:
        backend.asked = 0
        with opened(Door(start(**front("", backend)), protocol)) as c:
            c.send(b"abc")
            assert c.stream.exactly(3) == b"abc"
        assert backend.asked == 3 and backend.connections == 2


def test_a_silent_tunnel_ends(start, protocol):
    """TunnelTimeout, as over HTTP/1.1; others of the connection stay."""
    def serve(peer, request):
        if request.method == "CONNECT":
            accept(peer, request)
        else:
            peer.answer(request.stream)

    with tunnels(serve) as backend:
        server = start(**front("TunnelTimeout 300ms", backend))
        with opened(Door(server, protocol)) as c:
            assert c.is_closed()
        assert server.request("/").body == b"ok"
        assert eventually(lambda: backend.peers[0].resets == {1: CANCEL})


# ---- slow sides ----

def test_a_client_that_reads_nothing_stops_the_backend(start):
    """RFC 9113 section 5.2: its window is not given back, and other streams go on."""
    body = BIG * 3
    size = len(body)

    def serve(peer, request):
        if request.method == "GET":
            peer.answer(request.stream)
            return
        accept(peer, request)
        peer.sent, room = 0, {0: 1 << 20, request.stream: 65535}
        while peer.sent < size:
            piece = min(16384, size - peer.sent, *room.values())
            if piece > 0:
                peer.send(frame(DATA, 0, request.stream, body[peer.sent:peer.sent + piece]))
                peer.sent += piece
                room = {stream: left - piece for stream, left in room.items()}
                continue
            one = peer.next()
            if one is None:
                return
            if one.kind == WINDOW_UPDATE and one.stream in room:
                room[one.stream] += int.from_bytes(one.payload, "big")
            elif one.kind == HEADERS:
                peer.answer(one.stream)
        peer.send(frame(DATA, END_STREAM, request.stream))

    with tunnels(serve) as backend:
        server = start(**front("", backend))
        with Door(server, "h1").upgrade("/slow", OPENING, receive_buffer=65536) as c:
            peer = backend.peers[0]
            assert eventually(lambda: hasattr(peer, "sent"))
            time.sleep(0.3)
            assert peer.sent < size, "nobody reads, and yet all was taken"
            assert server.request("/").body == b"ok"
            c.finish_sending()
            assert c.rest() == body


def test_a_backend_that_reads_nothing_stops_the_client(start):
    """What waits for its window is bounded, and counts for MaxMemory: those that hold much for long end, and others go on."""
    def serve(peer, request):
        if request.method == "CONNECT":
            accept(peer, request)
        else:
            peer.answer(request.stream, b"ok")

    shut = settings(ENABLE_CONNECT_PROTOCOL=1, INITIAL_WINDOW_SIZE=0)
    with tunnels(serve, settings=shut, opens=False) as backend:
        server = start(**front("TunnelTimeout 300", backend, server=f"{ONE}MaxMemory 1M\n"))
        with contextlib.ExitStack() as stack:
            crowd = [stack.enter_context(opened(Door(server, "h1"))) for _ in range(30)]
            for c in crowd:
                c.sock.settimeout(0.05)
                with contextlib.suppress(OSError):
                    c.send(bytes(150_000))
            server.wait_for_log("made room: MaxMemory is used up, ")
            assert server.get("/nothing", {"Connection": "close"}).status in (200, 504)


# ---- hostile backends ----

HOSTILE = {
    "data first": (502, lambda peer, q: peer.send(frame(DATA, 0, q.stream, b"x"))),
    "101": (502, lambda peer, q: accept(peer, q, 101)),
    "reset": (502, lambda peer, q: peer.reset_stream(q.stream, PROTOCOL_ERROR)),
    "refused for ever": (502, lambda peer, q: peer.reset_stream(q.stream, REFUSED_STREAM)),
    "setting taken back": (502, lambda peer, q: peer.send(frame(SETTINGS, 0, 0, settings(ENABLE_CONNECT_PROTOCOL=0)))),
    "setting of 2": (502, lambda peer, q: peer.send(frame(SETTINGS, 0, 0, settings(ENABLE_CONNECT_PROTOCOL=2)))),
    "no status": (502, lambda peer, q: peer.send(peer.reply(q.stream, None, [("x", "y")]))),
    "never": (504, lambda peer, q: None),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_openings(start, protocol, name):
    status, act = HOSTILE[name]
    with tunnels(act) as backend:
        server = start(**front(f"ReadTimeout {'300ms' if status == 504 else '20s'}\nOfflineTimeOut 0", backend))
        assert Door(server, protocol).ask().status == status
        assert server.is_running()


def hostile_frames(q):
    return {
        "trailers": b"" + frame(HEADERS, END_HEADERS | END_STREAM, q.stream, b"\x00\x01x\x01y"),
        "second head": frame(HEADERS, END_HEADERS, q.stream, b"\x88"),
        "too much": frame(DATA, 0, q.stream, bytes(16384)) * 70,
        "after the end": frame(DATA, END_STREAM, q.stream, b"x") + frame(DATA, 0, q.stream, b"y"),
        "setting taken back": frame(SETTINGS, 0, 0, settings(ENABLE_CONNECT_PROTOCOL=0)),
        "goaway": frame(GOAWAY, 0, 0, struct.pack(">II", 0, NO_ERROR)),
        "empty": frame(DATA, 0, q.stream) * 20_000,
    }


@pytest.mark.parametrize("name", list(hostile_frames(type("Q", (), {"stream": 1}))))
def test_hostile_tunnels(start, name):
    """RFC 9113 sections 5.1, 6.8, 6.9, 8.5, 10.5; RFC 8441 section 3: the tunnel ends, others are served."""
    def serve(peer, request):
        if request.method == "GET":
            peer.answer(request.stream)
            return
        accept(peer, request)
        with contextlib.suppress(OSError):
            peer.send(hostile_frames(request)[name])

    with tunnels(serve) as backend:
        server = start(**front("OfflineTimeOut 0", backend))
        with opened(Door(server, "h1")) as c, contextlib.suppress(ConnectionResetError):
            if name == "after the end":
                c.finish_sending()
            elif name == "too much":
                time.sleep(0.1)
            c.rest()
        assert eventually(lambda: server.request("/").body == b"ok")


# ---- what is told of them ----

@pytest.mark.parametrize("place", ["h1", "h2"])
def test_statistics_and_logs(start, protocol, place):
    """A tunnel is one request of its backend, with its bytes; its line in the access log is that of 101, and comes at its end."""
    behind = service(start, place)
    said = front("Name shop\nStatisticsURL /stats", f"127.0.0.1:{behind.port}", plugins=("logger",)) if place == "h2" else configured(
        "Name shop\nStatisticsURL /stats", f"127.0.0.1:{behind.port}", plugins=("http2", "logger"), server=f"Listen 127.0.0.1:0 h2\n{ONE}")
    said["extra"]["plugins/logger/logger.conf"] = section("LOGGER", "FlushTimeout 0\nFormat json")
    server = start(site=section("LOGGER", "AccessLog access.log"), **said)
    with Door(server, protocol).upgrade() as c:
        c.send(b"abc")
        assert c.stream.exactly(3) == b"abc"
        assert facts(server)["active"] == 1
        c.finish_sending()
        assert c.rest() == b""
    lines = [json.loads(line) for line in wait_for_lines(server.conf / "access.log", 2)]  # the first is that of the statistics
    assert [(line["status"], line["bytes"], line["method"]) for line in lines[1:]] == [(101, 3, "GET")]
    assert eventually(lambda: facts(server)["active"] == 0)
    seen = facts(server)
    assert (seen["requests"], seen["bytes_received"], seen["bytes_sent"]) == (1, 3, 3)


def facts(server):
    """Of its only backend."""
    return json.loads(server.get("/stats?format=json").text)["entries"][0]["backends"][0]


# ---- a neighbour ----

@pytest.fixture(name="neighbour")
def fixture_neighbour(start, tmp_path):
    """nghttpx, which takes RFC 8441, before our own server."""
    program = shutil.which("nghttpx") or shutil.which("nghttpx", path="/usr/sbin")
    if not program:
        pytest.skip("nghttpx is not installed")
    behind, port = service(start, "h1"), free_port()
    (tmp_path / "nghttpx.conf").write_text("")
    ran = subprocess.Popen([program, f"--conf={tmp_path}/nghttpx.conf", f"-f127.0.0.1,{port};no-tls", f"-b127.0.0.1,{behind.port}",
                            "--workers=1", "--errorlog-file=/dev/null"])
    try:
        assert eventually(lambda: is_listening(port))
        yield f"127.0.0.1:{port}"
    finally:
        ran.terminate()
        ran.wait(10)


def is_listening(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def test_through_nghttpx(start, neighbour, protocol):
    door = Door(start(**front("", neighbour)), protocol)
    with Raw(door, "/suite") as one, Raw(door, "/echo") as other:
        one.send(ws_frame(BINARY, BIG[:200_000]))
        other.say("hello")
        assert other.hear() == "hello"
        assert one.receive() == (BINARY, BIG[:200_000])
        one.leave()
    assert door.ask("/nothing").status == 404
