# SPDX-License-Identifier: Apache-2.0
"""The package websocket: chats as of 2012, with channels, and with rooms of level 3."""

import asyncio
import contextlib
import os
import shutil
import signal

import pytest
import websockets

from harness import certificates, duda, executable
from harness.client import eventually
from harness.config import section
from harness.frames import BINARY, CLOSE, OPENING, PING, PONG, TEXT, Raw, frame

WORKERS = "Workers 2\nScheduler Fair\n"


@pytest.fixture
def services(tmp_path):
    """Builds services into the folder of the test; websocket.dpkg must be there."""
    duda.require_package("websocket")
    return tmp_path / "services"


def config(folder, *names, **rest):
    return duda.config(folder, *names, duda={"PackagesRoot": duda.packages()}, **{"server": WORKERS, **rest})


@pytest.fixture
def chat(start, services):
    duda.build(services, "packaged_chat", name="chat")
    return start(**config(services, "chat"))


def enter(server, target="/chat/ws", **fields):
    """A client that has been welcomed, so that it gets what is sent from now on."""
    ws = Raw(server, target, **fields)
    assert ws.hear() == "welcome"
    return ws


def counts(server):
    """opened, closed, failed, ended, refused, misused"""
    return [int(word) for word in server.get("/chat/counts").text.split()]


def wait_for(server, wanted):
    assert eventually(lambda: counts(server) == wanted, within=30.0), counts(server)


# ---- levels 1 and 2


def test_others_get_a_message(chat):
    """Those of other workers as well; the sender does not (a message of its own follows)."""
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(enter(chat)) for _ in range(6)]
        clients[0].say("hello")
        assert [ws.hear() for ws in clients[1:]] == ["hello"] * 5
        large = os.urandom(300_000)
        clients[1].send(frame(BINARY, large))
        assert [ws.receive() for ws in clients[:1] + clients[2:]] == [(BINARY, large)] * 5
        chat.get("/chat/shout")
        assert [ws.hear() for ws in clients] == ["all"] * 6
        for ws in clients:
            ws.leave()
    wait_for(chat, [6, 6, 0, 6, 0, 0])


def test_channels(chat):
    with enter(chat) as none, enter(chat, "/chat/ws?7") as one, enter(chat, "/chat/ws?7") as other, \
            enter(chat, "/chat/ws?8") as apart:
        one.say("to seven")
        assert other.hear() == "to seven"
        chat.get("/chat/shout")
        assert [none.hear(), apart.hear()] == ["all", "all"]
        assert sorted([one.hear(), one.hear()]) == sorted([other.hear(), other.hear()]) == ["all", "seven"]


def test_order_of_a_sender(chat):
    with enter(chat) as sender, enter(chat) as one, enter(chat) as other:
        sender.send(*(frame(TEXT, b"%d" % n) for n in range(500)))
        for ws in (one, other):
            assert [ws.hear() for _ in range(500)] == [str(n) for n in range(500)]


def test_control_frames(chat):
    with enter(chat) as ws:
        ws.send(frame(PING, b"x"))
        assert ws.receive() == (PONG, b"x")
        ws.say("ping")
        assert ws.receive() == (PING, b"beat")
        ws.say("bye")
        assert ws.receive() == (CLOSE, b"\x0f\xa0so long")
        ws.send(frame(CLOSE, b"\x0f\xa0"))
    wait_for(chat, [1, 1, 0, 1, 0, 0])


def test_ends(chat):
    """Exactly one end each, and before it an error where there was no closing handshake, or a fault."""
    with enter(chat):
        pass
    wait_for(chat, [1, 1, 1, 1, 0, 0])
    with enter(chat) as ws:
        ws.send(frame(TEXT, b"\xff"))
        assert ws.closed() == 1007
    wait_for(chat, [2, 2, 2, 2, 0, 0])
    with enter(chat) as ws:
        ws.leave()
    wait_for(chat, [3, 3, 2, 3, 0, 0])
    assert chat.get("/chat/wrong").text == "-1 -1 -1 -1 -1 -1 -1"


@pytest.mark.parametrize("fields, status", [
    ({}, 426), pytest.param({"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}, 400,
                            marks=pytest.mark.connection("of the handshake of HTTP/1"))])
def test_refused_handshakes(chat, fields, status):
    assert chat.get("/chat/ws", headers=fields).status == status
    wait_for(chat, [0, 0, 0, 1, 1, 0])


@pytest.mark.plain("a client that knows no other carriers")
def test_over_tls(start, services):
    if not executable.plugin("tls"):
        pytest.skip("this build has no TLS")
    duda.build(services, "packaged_chat", name="chat")
    arguments = config(services, "chat", server=WORKERS + "Listen 127.0.0.1:0 tls\n",
                       extra={"plugins/tls/tls.conf": section("TLS", certificates.issue().lines())})
    arguments["extra"]["plugins.load"] += "    Load tls\n"
    server = start(**arguments)

    async def talk():
        url, context = f"wss://localhost:{server.port}/chat/ws", certificates.trusting()
        async with websockets.connect(url, ssl=context) as one, websockets.connect(url, ssl=context) as other:
            assert await one.recv() == await other.recv() == "welcome"
            await one.send("x" * 100_000)
            assert await other.recv() == "x" * 100_000

    asyncio.run(asyncio.wait_for(talk(), 60))


def test_two_services_do_not_meet(start, services):
    duda.build(services, "packaged_chat", name="chat")
    shutil.copy(services / "chat.duda", services / "talk.duda")
    server = start(**config(services, "chat", "talk"))
    with enter(server) as one, enter(server) as other, enter(server, "/talk/ws") as stranger, enter(server, "/talk/ws") as listener:
        one.say("for the chat")
        assert other.hear() == "for the chat"
        stranger.say("for the talk")
        assert listener.hear() == "for the talk"
        one.say("again")
        assert other.hear() == "again"


def test_a_service_that_is_replaced(start, services):
    """Its connections go on with it; new ones are the new one's."""
    duda.build(services, "packaged_chat", name="chat")
    server = start(**config(services, "chat"))
    with enter(server) as one, enter(server) as other:
        duda.build(services, "packaged_chat", name="chat", flags=("-fcommon", "-DREPLACED"))
        server.reload(expect="configuration reloaded")
        with enter(server) as fresh, enter(server) as listener:
            one.say("old")
            assert other.hear() == "old"
            fresh.say("new")
            assert listener.hear() == "new"
            one.say("still")
            assert other.hear() == "still"
        other.leave()
        one.leave()
        wait_for(server, [2, 2, 2, 2, 0, 0])


@pytest.mark.connection("the client of HTTP/2 reads nothing after GOAWAY")
def test_the_end_of_the_server(chat):
    with enter(chat) as polite, enter(chat) as silent:
        chat.signal(signal.SIGTERM)
        assert polite.closed() == 1001 and silent.closed() == 1001
        polite.send(frame(CLOSE, b"\x03\xe9"))
        chat.stop(within=60)


# ---- level 3


@pytest.fixture
def rooms(start, services):
    duda.build(services, "packaged_rooms", name="rooms", level=3)
    return start(**config(services, "rooms"))


def play(server, **fields):
    return Raw(server, "/rooms/play", Origin="https://games.example", **fields)


def test_rooms(rooms):
    with play(rooms) as one, play(rooms) as other, play(rooms) as third:
        for ws in (one, other, third):
            assert ws.hear() == "protocol 0"
        for ws, room in ((one, "lobby"), (other, "lobby"), (third, "hall"), (one, "hall")):
            ws.say(f"+{room}")
            assert ws.hear() == "in"
        one.say("lobby:hello")
        one.say("hall:hello there")
        assert other.hear() == "hello" and third.hear() == "hello there"
        assert rooms.get("/rooms/state").text == "0 3"
        assert one.hear() == other.hear() == "news"
        other.say("-lobby")
        assert other.hear() == "out"
        other.say("-lobby")
        assert other.hear() == "was not there"
        rooms.get("/rooms/state")
        assert one.hear() == "news"
        third.say("many")
        assert third.hear() == "joined 99"  # beside the hall
        third.say("+\1")
        assert third.hear() == "refused"


def test_options(rooms):
    assert rooms.get("/rooms/play", headers={**OPENING, "Origin": "https://evil.example"}).status == 403
    with play(rooms, **{"Sec-WebSocket-Protocol": "go, chess"}) as ws:
        assert ws.head.header("Sec-WebSocket-Protocol") == "chess"
        assert ws.hear() == "protocol 1"
        ws.send(frame(TEXT, b"x" * 101))
        assert ws.closed() == 1009
    assert eventually(lambda: rooms.get("/rooms/state").text == "1009 0", within=30.0)


def test_compression(rooms):
    with play(rooms, **{"Sec-WebSocket-Extensions": "permessage-deflate"}) as ws:
        answers = ws.head.all("Sec-WebSocket-Extensions")
        if not answers:
            pytest.skip("this build has no zlib")
        assert answers == ["permessage-deflate; server_no_context_takeover; client_no_context_takeover"]
        assert ws.hear() == "protocol 0"
        ws.send(frame(TEXT, b"\x00\x06\x00\xf9\xff+lobby\x00", packed=True))
        assert ws.hear() == "in"


def test_close_codes(rooms):
    with play(rooms) as ws:
        ws.hear()
        ws.say("close 4001")
        assert ws.receive() == (CLOSE, b"\x0f\xa1as you wish")
        ws.send(frame(CLOSE, b"\x0f\xa2"))
    assert eventually(lambda: rooms.get("/rooms/state").text == "4002 0", within=30.0)
