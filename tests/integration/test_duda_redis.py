# SPDX-License-Identifier: Apache-2.0
"""The package redis: the published calls."""

import pytest

from harness import duda, redis_server
from harness.client import eventually
from harness.liar import Liar

WITHIN = 50.0
SLOW = b"GET /db/slow HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.fixture(autouse=True)
def _has_package():
    duda.require_package("redis")


@pytest.fixture
def redis(tmp_path):
    with redis_server.Server(tmp_path) as server:
        yield server


@pytest.fixture
def serve(start, tmp_path):
    def run(redis):
        folder = tmp_path / "services"
        duda.build(folder, "packaged_redis", name="db", flags=("-fcommon", f"-DREDIS_PORT={redis.port}"))
        return start(**duda.config(folder, "db", server="Workers 1\n", duda={"PackagesRoot": duda.packages()}))

    return run


def counts(server):
    """Connected, in vain, disconnected, lost; answers, commands without one."""
    return [int(word) for word in server.get("/db/counts").text.split()]


def test_commands(serve, redis):
    server = serve(redis)
    for turn in range(1, 4):
        assert server.get("/db/commands").text == ("nil;OK/2;a/3;42;2;[one/3;two/3;]"
                                                   "WRONGTYPE Operation against a key holding the wrong kind of value/65;")
        assert counts(server) == [turn, 0, turn, 0, 7 * turn, 0]
    assert eventually(lambda: redis.clients() == 0, within=WITHIN)


def test_a_context_that_is_freed(serve, redis):
    server = serve(redis)
    assert server.get("/db/freed").text == "it was freed;it was freed;freed"
    assert counts(server) == [0, 1, 0, 0, 0, 2]
    assert eventually(lambda: redis.clients() == 0, within=WITHIN)


def test_channels(serve, redis):
    server = serve(redis)
    server.get("/db/listen")
    confirmed = "news subscribe news 1;news subscribe other 2;pattern psubscribe n* 3;"
    assert eventually(lambda: server.get("/db/heard").text == confirmed), server.get("/db/heard").text
    assert redis.ask("PUBLISH", "news", "one") == b":2\r\n"
    confirmed += "news message news one;pattern pmessage n* one;"
    assert eventually(lambda: server.get("/db/heard").text == confirmed, within=WITHIN)
    assert server.get("/db/mute").text == "0 -1"
    confirmed += "news unsubscribe news 2;"
    assert eventually(lambda: server.get("/db/heard").text == confirmed, within=WITHIN)
    assert redis.ask("PUBLISH", "news", "two") == b":1\r\n"
    confirmed += "pattern pmessage n* two;"
    assert eventually(lambda: server.get("/db/heard").text == confirmed, within=WITHIN)
    server.get("/db/deaf")
    assert sorted(server.get("/db/heard").text[len(confirmed):].split(";")) == ["", "news ended", "pattern ended"]
    assert eventually(lambda: redis.clients() == 0, within=WITHIN)


def test_misuse(serve, redis):
    server = serve(redis)
    assert server.get("/db/wrong").text == "all refused"
    assert eventually(lambda: redis.clients() == 0, within=WITHIN)


def test_no_server_listens(serve, redis):
    redis.kill()
    server = serve(redis)
    assert server.get("/db/slow").text == "Connection refused;"
    assert counts(server) == [0, 1, 0, 0, 0, 1]


def test_the_server_is_killed(serve, redis):
    server = serve(redis)
    with server.connect() as client:
        client.send(SLOW)
        assert eventually(lambda: counts(server)[0] == 1, within=WITHIN)
        redis.kill()
        assert client.response().text in ("the server closed the connection;", "Connection reset by peer;")
    assert counts(server) == [1, 0, 0, 1, 0, 1]
    redis.start()
    assert server.get("/db/commands").text.startswith("nil;OK/2;")


def test_clients_leave(serve, redis):
    server = serve(redis)
    for turn in range(1, 4):
        with server.connect() as client:
            client.send(SLOW)
            assert eventually(lambda: redis.clients() == 1, within=WITHIN)
        redis.ask("RPUSH", "never", "come")
        assert eventually(lambda turn=turn: counts(server) == [turn, 0, turn, 0, turn, 0], within=WITHIN)
    assert eventually(lambda: redis.clients() == 0, within=WITHIN)


def test_a_client_leaves_and_the_server_never_answers(serve, redis):
    server = serve(redis)
    with server.connect() as client:
        client.send(SLOW)
        assert eventually(lambda: redis.clients() == 1, within=WITHIN)
    assert eventually(lambda: counts(server) == [1, 0, 0, 1, 0, 1], within=WITHIN)
    assert eventually(lambda: redis.clients() == 0, within=WITHIN)


LIES = {
    "garbage": (b"\0\xff\r\n", False),
    "another protocol": (b"HTTP/1.1 400 Bad Request\r\n\r\n", False),
    "a huge array": (b"*99999999\r\n", False),
    "arrays of arrays": (b"*1\r\n" * 50, False),
    "two answers": (b"+OK\r\n+OK\r\n+OK\r\n", False),
    "a message without a channel": (b"*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$1\r\ny\r\n", False),
    "an array of nothing": (b"*-1\r\n", False),
    "half an answer and the end": (b"$10\r\nhalf", True),
    "only the end": (b"", True),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_server_that_lies(serve, lie):
    answer, closes = LIES[lie]
    with Liar(answer, closes) as liar:
        server = serve(liar)
        assert server.get("/db/slow").text[-1] in ";]"
        connected, failed, disconnected, lost, answers, unanswered = counts(server)
        assert (connected, failed, disconnected + lost, answers + unanswered) == (1, 0, 1, 1)
        assert server.get("/db/slow").status == 200


def test_the_server_ends_with_commands(serve, redis):
    server = serve(redis)
    server.get("/db/listen")
    with server.connect() as client:
        client.send(SLOW)
        assert eventually(lambda: redis.clients() == 2, within=WITHIN)
    server.stop()
