# SPDX-License-Identifier: Apache-2.0
"""Broadcasts of the package websocket between servers, by Redis: once, in order, and with word of what was lost."""

import contextlib
import select
import time

import pytest

from harness import duda, redis_server
from harness.client import eventually
from harness.frames import BINARY, Raw, frame
from harness.liar import Liar

WITHIN = 50.0


@pytest.fixture(autouse=True)
def _has_packages():
    duda.require_package("redis")
    duda.require_package("websocket")


@pytest.fixture
def redis(tmp_path):
    with redis_server.Server(tmp_path) as server:
        yield server


@pytest.fixture
def serve(start, tmp_path):
    """Start one more server; their broadcasts meet at this address. It is returned when it hears the others."""
    def run(address, service="packaged_plane", hears=None):
        if not (tmp_path / "services" / f"{service}.duda").exists():
            duda.build(tmp_path / "services", service, level=3 if service == "packaged_plane" else 1)
        before = listeners(hears) if hears else 0
        server = start(**duda.config(tmp_path / "services", service, server="Workers 2\nScheduler Fair\n",
                                     duda={"Backplane": f"redis://{address}", "PackagesRoot": duda.packages()}))
        assert not hears or eventually(lambda: listeners(hears) > before, within=WITHIN)
        return server

    return run


def listeners(redis):
    """Servers that hear the others."""
    return sum("sub=1" in line for line in redis.text("CLIENT", "LIST").splitlines())


def enter(server, service="packaged_plane", target="ws"):
    ws = Raw(server, f"/{service}/{target}")
    assert ws.hear() == "welcome"
    return ws


@contextlib.contextmanager
def crowd(*servers, each=1, **rest):
    """Clients of each server, in turn."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(enter(server, **rest)) for _ in range(each) for server in servers]


def counts(server):
    """Gaps that were reported, and messages that were not sent."""
    return [int(word) for word in server.get("/packaged_plane/counts").text.split()][:2]


def start_two(serve, redis):
    """
    Two servers that hear each other, and the counts of each: one that began to hear after 100 ms may have missed something and has
    reported a gap before its first message.
    """
    servers = serve(redis.address, hears=redis), serve(redis.address, hears=redis)
    both_hear(redis, *servers)
    return *servers, *map(counts, servers)


def heard(client, n):
    return [client.hear() for _ in range(n)]


# ---- once, and in order


def test_a_broadcast_reaches_the_clients_of_all_servers_once(serve, redis):
    servers = [serve(redis.address, hears=redis) for _ in range(3)]
    with crowd(*servers, each=2) as clients:
        for number, client in enumerate(clients):
            client.say(f"from {number}")
        for number, client in enumerate(clients):
            others = sorted(f"from {other}" for other in range(len(clients)) if other != number)
            assert sorted(heard(client, len(others))) == others
        clients[0].say("the end")
        assert [client.hear() for client in clients[1:]] == ["the end"] * 5


def test_the_order_of_each_sender(serve, redis):
    servers = [serve(redis.address, hears=redis) for _ in range(2)]
    with crowd(*servers, each=2) as clients:
        for step in range(100):
            for number, client in enumerate(clients):
                client.say(f"{number} {step}")
        for number, client in enumerate(clients):
            texts = heard(client, 300)
            for other in range(4):
                steps = [int(text.split()[1]) for text in texts if text.startswith(f"{other} ")]
                assert steps == ([] if other == number else list(range(100)))


def test_rooms_and_channels(serve, redis):
    one, other = serve(redis.address, hears=redis), serve(redis.address, hears=redis)
    with crowd(one, other, each=2) as clients:
        for client in clients[:3]:
            client.say("+tea room")
            assert client.hear() == "in"
        clients[0].say("tea room:hello")
        assert clients[1].hear() == clients[2].hear() == "hello"
        clients[0].say("no such room:lost")
        clients[0].say("all")
        assert [client.hear() for client in clients[1:]] == ["all"] * 3


def test_channels_of_2012(serve, redis):
    one = serve(redis.address, "packaged_chat", hears=redis)
    other = serve(redis.address, "packaged_chat", hears=redis)
    with crowd(one, other, service="packaged_chat", target="ws?7") as sevens:
        with crowd(one, other, service="packaged_chat", target="ws") as plain:
            sevens[0].say("in seven")
            assert sevens[1].hear() == "in seven"
            assert one.get("/packaged_chat/shout").status == 204
            assert heard(plain[0], 1) == heard(plain[1], 1) == ["all"]
            assert heard(sevens[0], 2) == heard(sevens[1], 2) == ["all", "seven"]


def test_bytes_and_long_messages(serve, redis):
    one, other = serve(redis.address, hears=redis), serve(redis.address, hears=redis)
    body = bytes(range(256)) * 8000
    with crowd(one, other) as (sender, receiver):
        sender.send(frame(BINARY, body))
        assert receiver.receive() == (BINARY, body)
        sender.send(frame(BINARY, b""))
        assert receiver.receive() == (BINARY, b"")


def test_more_than_may_wait_in_one_turn(serve, redis):
    one, other, before, _ = start_two(serve, redis)
    with crowd(one, other) as clients:
        assert one.get("/packaged_plane/burst?n=3000").status == 200
        for client in clients:
            assert heard(client, 3000) == [str(n) for n in range(3000)]
    assert counts(one) == before


def test_threads_of_a_service(serve, redis):
    one, other = serve(redis.address, hears=redis), serve(redis.address, hears=redis)
    with crowd(one, other) as clients:
        assert one.get("/packaged_plane/thread?n=100").status == 200
        for client in clients:
            assert heard(client, 100) == [str(n) for n in range(100)]


def test_services_of_other_names_do_not_meet(serve, redis):
    one, other = serve(redis.address, hears=redis), serve(redis.address, "packaged_chat", hears=redis)
    with enter(one) as plane, enter(other, "packaged_chat") as chat:
        plane.say("for planes")
        assert other.get("/packaged_chat/shout").status == 204
        assert chat.hear() == "all"


# ---- failures


def both_hear(redis, one, other):
    """Messages get through again in both directions."""
    assert eventually(lambda: listeners(redis) == 2, within=WITHIN)
    with crowd(one, other) as clients:
        for sender, receiver in (clients, clients[::-1]):
            gets_through(sender, receiver)


def gets_through(sender, receiver):
    """On a busy machine a message may be given up; the next one is not."""
    def passes():
        sender.say("again")
        return select.select([receiver.connection.sock], [], [], 1.0)[0]

    assert eventually(passes, within=WITHIN)
    assert receiver.hear() == "again"


def test_redis_is_restarted(serve, redis):
    one, other, (gaps, unsent), (others_gaps, others_unsent) = start_two(serve, redis)
    with crowd(one, one, other) as clients:
        redis.kill()
        clients[0].say("lost to others")
        assert clients[1].hear() == "lost to others"
        redis.start()
        assert eventually(lambda: counts(one)[0] == gaps + 1 and counts(other)[0] == others_gaps + 1, within=WITHIN)
        assert eventually(lambda: counts(one)[1] == unsent + 1, within=WITHIN)
        assert counts(other) == [others_gaps + 1, others_unsent]
        assert eventually(lambda: listeners(redis) == 2, within=WITHIN)
        gets_through(clients[0], clients[2])
        assert clients[1].hear() == "again"
    both_hear(redis, one, other)


@pytest.mark.slow
def test_redis_is_paused(serve, redis):
    one, other, (gaps, _), (others_gaps, _) = start_two(serve, redis)
    with crowd(one, one, other) as clients:
        redis.pause()
        clients[0].say("here at once")
        assert clients[1].hear() == "here at once"
        time.sleep(7)  # longer than it may be silent and then leave a question without an answer
        redis.go_on()
        assert eventually(lambda: counts(one)[0] > gaps and counts(other)[0] > others_gaps, within=WITHIN)
    both_hear(redis, one, other)


def test_redis_comes_later(serve, redis):
    redis.kill()
    one = serve(redis.address)
    with enter(one) as first, enter(one) as second:
        first.say("alone")
        assert second.hear() == "alone"
    redis.start()
    assert eventually(lambda: counts(one)[0] == 1, within=WITHIN)
    other = serve(redis.address)
    both_hear(redis, one, other)


def test_a_server_is_killed(serve, redis):
    one, other, third = (serve(redis.address, hears=redis) for _ in range(3))
    with crowd(one, other) as clients:
        third.kill()
        clients[0].say("still here")
        assert clients[1].hear() == "still here"


ORIGIN = "0123456789abcdef" * 2
MALFORMED = ["", "1", "hello", f"2 {ORIGIN} 1 1\n\1x", f"1 {ORIGIN} 3 1\n\1x", f"1 {ORIGIN} 1 0\nx", f"1 {ORIGIN} 1 99\n\1x",
             f"1 {ORIGIN} 1 01\n\1x", f"1 {ORIGIN} 1 9999999999999999999999\n\1x", f"1 {ORIGIN[:-1]}g 1 1\n\1x",
             f"1 {ORIGIN} 1 1\n", f"1 {ORIGIN} 1 2\n\1\0x", b"1 " + ORIGIN.encode() + b" 1 1\n\1\xff\xfe"]


def test_messages_that_are_none(serve, redis):
    one = serve(redis.address, hears=redis)
    channel = "duda:websocket:/packaged_plane"
    with enter(one) as client:
        for message in MALFORMED:
            assert redis.ask("PUBLISH", channel, message) == b":1\r\n"
        assert redis.ask("PUBLISH", channel, f"1 {ORIGIN} 1 1\n\1of another") == b":1\r\n"
        assert client.hear() == "of another"


@pytest.mark.parametrize("answer", [b"-ERR no\r\n", b"HTTP/1.1 400 \r\n\r\n", b"*3\r\n$7\r\nmessage\r\n", b"*3\r\n:1\r\n:1\r\n:1\r\n"])
def test_a_server_that_is_none(serve, answer):
    with Liar(answer) as liar:
        one = serve(liar.address)
        with enter(one) as first, enter(one) as second:
            first.say("here")
            assert second.hear() == "here"


def test_a_reload_keeps_clients_of_the_old_service(serve, redis, tmp_path):
    """The old version of the service hears on as long as it has clients, wherever they are."""
    one, other = serve(redis.address, hears=redis), serve(redis.address, hears=redis)
    with crowd(one, one, other) as clients:
        duda.build(tmp_path / "services", "packaged_plane", level=3)
        one.reload()
        assert eventually(lambda: listeners(redis) == 3, within=WITHIN)
        clients[2].say("to old ones")
        assert clients[0].hear() == clients[1].hear() == "to old ones"
        with enter(one) as fresh:
            clients[2].say("to all")
            assert fresh.hear() == clients[0].hear() == clients[1].hear() == "to all"


def test_a_url_that_is_none(start, tmp_path):
    server = start(wait=False, **duda.config(tmp_path, duda={"Backplane": "redis:/nowhere"}))
    assert server.expect_exit() != 0
    assert "Backplane: it begins with redis://" in server.log()
