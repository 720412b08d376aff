# SPDX-License-Identifier: Apache-2.0
"""WebSocket (RFC 6455) through the plugin `sockets`, against the client of Python's websockets and by single frames."""

import asyncio
import contextlib
import os
import signal
import struct

import pytest
import websockets

from harness import certificates, frames, secured
from harness.frames import BINARY, CLOSE, CONTINUATION, OPENING, PING, PONG, TEXT, frame
from harness.plugins import load, path

KINDS = ("echo", "pieces", "group", "close", "flood", "new", "old", "threads", "small", "pings")
HANDLERS = "".join(f"Match ^/{kind} sockets {kind}\n" for kind in KINDS)
CONFIG = {"server": "Workers 2\nScheduler Fair", "handlers": HANDLERS}
PATIENCE = 30
OF_SOCKETS = pytest.mark.plain("a client that knows no other carriers")
OF_HTTP_1 = pytest.mark.connection("of the handshake of HTTP/1")


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(**CONFIG, extra={"plugins.load": load("sockets")})


class Raw(frames.Raw):
    def __init__(self, server, kind):
        super().__init__(server, f"/{kind}")


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, PATIENCE))


def connect(server, kind, scheme="ws", **kwargs):
    kwargs.setdefault("compression", None)
    kwargs.setdefault("max_size", None)
    return websockets.connect(f"{scheme}://localhost:{server.port}/{kind}", **kwargs)


# ---- the handshake (section 4.2)

@pytest.mark.parametrize("changed, status", [
    ({"Upgrade": "h2c"}, 426), pytest.param({"Connection": "close"}, 426, marks=OF_HTTP_1), ({"Sec-WebSocket-Version": "8"}, 426),
    pytest.param({"Sec-WebSocket-Key": "short"}, 400, marks=OF_HTTP_1), ({"Origin": "http://evil.example"}, 403)])
def test_refused_openings(server, changed, status):
    answer = server.get("/echo", headers={**OPENING, **changed})
    assert answer.status == status
    if status == 426:
        assert answer.all("Sec-WebSocket-Version") == ["13"]


@OF_HTTP_1
def test_methods(server):
    assert server.request("/echo", method="POST", headers={**OPENING, "Content-Length": "0"}).status == 405


@OF_SOCKETS
def test_subprotocols(server):
    async def talk():
        async with connect(server, "echo", subprotocols=["good", "best"]) as ws:
            assert ws.subprotocol == "best"

    run(talk())


# ---- messages

@pytest.mark.parametrize("size", [0, 1, 64, 125, 126, 65535, 65536, 300000])
@OF_SOCKETS
def test_echo(server, size):
    async def talk():
        async with connect(server, "echo") as ws:
            for message in ("x" * size, os.urandom(size)):
                await ws.send(message)
                assert await ws.recv() == message

    run(talk())


@OF_SOCKETS
def test_pipelined_echoes_keep_their_order(server):
    async def talk():
        async with connect(server, "echo") as ws:
            for i in range(500):
                await ws.send(str(i))
            assert [await ws.recv() for _ in range(500)] == [str(i) for i in range(500)]

    run(talk())


@OF_SOCKETS
def test_echo_over_tls(start):
    config = secured.config(certificates.issue().lines(), **CONFIG)
    config["extra"]["plugins.load"] += f"    Load {path('sockets')}\n"
    server = start(**config)

    async def talk():
        async with connect(server, "echo", scheme="wss", ssl=certificates.trusting()) as ws:
            for message in ("small", "x" * 200000):
                await ws.send(message)
                assert await ws.recv() == message

    run(talk())


def test_fragments_with_a_ping_in_between(server):
    with Raw(server, "echo") as ws:
        ws.send(frame(TEXT, b"\xe2\x82", final=False), frame(PING, b"still?"), frame(CONTINUATION, b"\xac"))
        assert ws.receive() == (PONG, b"still?")
        assert ws.receive() == (TEXT, "€".encode())


def test_frames_byte_by_byte(server):
    with Raw(server, "echo") as ws:
        for byte in frame(TEXT, b"slow") + frame(PING, b"p") + frame(BINARY, b"x" * 130):
            ws.send(bytes([byte]))
        assert ws.receive() == (TEXT, b"slow")
        assert ws.receive() == (PONG, b"p")
        assert ws.receive() == (BINARY, b"x" * 130)


@pytest.mark.plain("pieces are what arrives at once")
def test_pieces(server):
    with Raw(server, "pieces") as ws:
        ws.send(frame(TEXT, b"one", final=False), frame(CONTINUATION, b"two"))
        assert [ws.receive() for _ in range(3)] == [(TEXT, b"one"), (TEXT, b"two"), (TEXT, b"last")]


# ---- rules that are broken (sections 5, 7 and 8)

@pytest.mark.parametrize("name, frames, code", [
    ("not masked", b"\x81\x01a", 1002),
    ("reserved bit", b"\xc1\x80abcd", 1002),
    ("unknown opcode", frame(3), 1002),
    ("a continuation of nothing", frame(CONTINUATION), 1002),
    ("a fragmented ping", frame(PING, final=False), 1002),
    ("a message inside another", frame(TEXT, final=False) + frame(TEXT), 1002),
    ("no UTF-8", frame(TEXT, b"\xff"), 1007),
    ("an unfinished character", frame(TEXT, b"\xe2\x82"), 1007),
    ("a wrong byte before the end", frame(TEXT, b"\xf4\x90", final=False), 1007),
    ("Close of one byte", frame(CLOSE, b"x"), 1002),
    ("Close 1005", frame(CLOSE, b"\x03\xed"), 1002),
    ("Close 2999", frame(CLOSE, b"\x0b\xb7"), 1002),
    ("a reason that is no UTF-8", frame(CLOSE, b"\x03\xe8\xff"), 1007),
])
def test_broken_rules(server, name, frames, code):
    with Raw(server, "echo") as ws:
        ws.send(frames)
        assert ws.closed() == code, name
        assert ws.connection.rest() == b""


@pytest.mark.parametrize("frames", [frame(TEXT, b"x" * 101),
                                    frame(TEXT, b"x" * 100, final=False) + frame(CONTINUATION, b"x" * 51)])
def test_what_is_too_large(server, frames):
    with Raw(server, "small") as ws:
        ws.send(frames)
        assert ws.closed() == 1009


# ---- the closing handshake (section 7)

@pytest.mark.parametrize("payload", [b"", struct.pack("!H", 1000), struct.pack("!H", 3999) + b"done"])
def test_close_is_answered(server, payload):
    with Raw(server, "echo") as ws:
        ws.send(frame(TEXT, b"last"), frame(CLOSE, payload), frame(TEXT, b"too late"))
        assert ws.receive() == (TEXT, b"last")
        assert ws.closed() == (int.from_bytes(payload[:2], "big") if payload else None)
        assert ws.connection.rest() == b""


def test_the_application_closes(start):
    server = start(**CONFIG, extra={"plugins.load": load("sockets")})
    with Raw(server, "close") as ws:
        ws.send(frame(TEXT, b"4001 because"))
        assert ws.receive() == (CLOSE, struct.pack("!H", 4001) + b"because")
        ws.send(frame(CLOSE, struct.pack("!H", 4001) + b"agreed"))
        assert ws.connection.rest() == b""
    server.wait_for_log(r"websocket ended 4001 agreed")
    assert server.log().count("websocket ended") == 1


def test_close_without_an_answer_has_a_time_limit(server):
    with Raw(server, "close") as ws:
        ws.send(frame(TEXT, b"4001 "))
        assert ws.closed() == 4001
        assert ws.connection.rest() == b""


def test_each_end_is_told_once(start):
    server = start(**CONFIG, extra={"plugins.load": load("sockets")})
    for _ in range(3):
        with Raw(server, "echo"):
            pass
    server.wait_for_log(r"(?s)(websocket ended 1006.*){3}")
    assert server.log().count("websocket ended") == 3


@pytest.mark.socket("a server in memory ends at once")
@pytest.mark.connection("the client of HTTP/2 reads nothing after GOAWAY")
def test_a_graceful_stop_says_1001(start):
    server = start(**CONFIG, extra={"plugins.load": load("sockets")})
    with Raw(server, "echo") as ws:
        server.signal(signal.SIGTERM)
        assert ws.closed() == 1001
        ws.send(frame(CLOSE, struct.pack("!H", 1001)))
        assert ws.connection.rest() == b""
    assert server.expect_exit() == 0


@pytest.mark.socket("a server in memory is not reloaded")
def test_connections_outlive_a_reload(start):
    server = start(**CONFIG, extra={"plugins.load": load("sockets")})
    with Raw(server, "group") as ws:
        assert ws.receive() == (TEXT, b"joined")
        server.reload()
        ws.send(frame(TEXT, b"still here"))
        assert ws.receive() == (TEXT, b"still here")


# ---- pings (section 5.5.2)

def test_a_silent_peer_is_pinged_and_left(server):
    with Raw(server, "pings") as ws:
        assert ws.receive() == (PING, b"")
        ws.send(frame(PONG))
        assert ws.receive() == (PING, b"")
        assert ws.connection.rest() == b""  # no pong: cut


# ---- slow readers

def test_a_slow_reader_is_closed(server):
    with Raw(server, "flood") as slow:
        slow.send(frame(TEXT, b"go"))
        with Raw(server, "echo") as other:
            other.send(frame(TEXT, b"not delayed"))
            assert other.receive() == (TEXT, b"not delayed")


def turn_of_each_worker(stack, server):
    """A function that returns when each worker has ended a turn of its loop that began meanwhile."""
    clients = [stack.enter_context(Raw(server, "echo")) for _ in range(8)]  # the least-loaded worker gets each

    def turn():
        for ws in clients * 2:
            ws.send(frame(TEXT, b"turn"))
            assert ws.receive() == (TEXT, b"turn")
    return turn


@pytest.mark.parametrize("kind", ["new", "old"])
def test_messages_are_dropped(server, kind):
    with contextlib.ExitStack() as stack:
        turn = turn_of_each_worker(stack, server)
        ws = stack.enter_context(Raw(server, kind))
        ws.send(frame(TEXT, b"go"), frame(PING, b"end"))
        turn()  # all is sent, and nothing was read
        numbers = []
        while (got := ws.receive())[0] != PONG:
            numbers.append(int(got[1][:7]))
        while kind == "old" and numbers[-1] != 999:
            numbers.append(int(ws.receive()[1][:7]))
        assert numbers == sorted(numbers) and numbers[0] == 0 and len(numbers) < 1000


# ---- other threads, groups

@OF_SOCKETS
def test_sends_from_other_threads(server):
    async def talk():
        async with connect(server, "threads") as ws:
            assert [await ws.recv() for _ in range(1000)] == [str(i) for i in range(1000)]
            await ws.wait_closed()
            assert ws.close_code == 4000

    run(talk())


def test_connections_end_while_threads_send(server):
    for _ in range(20):
        with Raw(server, "threads") as ws:
            ws.receive()


@OF_SOCKETS
def test_a_group_on_two_workers_keeps_the_order_of_a_sender(server):
    async def talk():
        members = [await connect(server, "group") for _ in range(20)]
        for ws in members:
            assert await ws.recv() == "joined"
        for i in range(50):
            await members[0].send(f"a{i}")
            await members[1].send(f"b{i}")
        for ws in members:
            got = [await ws.recv() for _ in range(100)]
            assert [m for m in got if m[0] == "a"] == [f"a{i}" for i in range(50)]
            assert [m for m in got if m[0] == "b"] == [f"b{i}" for i in range(50)]
        await members[2].send("leave")
        await members[2].send("gone?")
        assert await members[0].recv() == "gone?"
        for ws in members:
            await ws.close()

    run(talk())
