# SPDX-License-Identifier: Apache-2.0
"""Clients of the package redis: commands, channels, and servers that fail."""

import contextlib
import socket
import threading

import pytest

from harness import duda, redis_server
from harness.client import eventually
from harness.liar import Liar

WITHIN = 50.0
PATIENT = ".timeout_ms=50000"  # longer than a busy machine keeps a server from its answer
POP = b"GET /db/pop?key=never HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.fixture(autouse=True)
def _has_package():
    duda.require_package("redis")


@pytest.fixture
def redis(tmp_path):
    with redis_server.Server(tmp_path) as server:
        yield server


@pytest.fixture
def serve(start, tmp_path):
    def run(redis, options=PATIENT):
        build(tmp_path / "services", "db", redis, options)
        return start(**config(tmp_path / "services", "db"))

    return run


def build(folder, name, redis, options=PATIENT):
    duda.build(folder, "packaged_redis3", name=name, level=3,
               flags=("-fcommon", f'-DSERVER="{redis.address}"', f"-DOPTIONS={options}"))


def config(folder, *names):
    return duda.config(folder, *names, duda={"PackagesRoot": duda.packages()}, server="Workers 1\n")


def ask(server, *words, name="db"):
    return server.get(f"/{name}/ask?c=" + ",".join(words), timeout=WITHIN).text


def result(server, *words):
    """The number of the result, whether it is the command's or the call's."""
    return int(ask(server, *words).split()[0])


def counts(server, name="db"):
    """Commands that were accepted, call-backs, those of requests that had ended."""
    return [int(word) for word in server.get(f"/{name}/counts").text.split()]


def all_were_answered(server):
    """Each call-back came, and none twice."""
    return eventually(lambda: counts(server)[0] == counts(server)[1], within=WITHIN)


def works(server):
    return ask(server, "PING") == "0 PONG"


@contextlib.contextmanager
def asking(server, *targets):
    """Ask for them at the same time; the list has the texts afterwards."""
    texts = []
    threads = [threading.Thread(target=lambda target=target: texts.append(server.get(target, timeout=WITHIN).text))
               for target in targets]
    for thread in threads:
        thread.start()
    yield texts
    for thread in threads:
        thread.join(WITHIN)
    assert len(texts) == len(targets)


# ---- commands


def test_commands(serve, redis):
    server = serve(redis)
    assert server.get("/db/get?key=a").text == "0 nil"
    assert server.request("/db/set?key=a", "POST", body=b"one two").text == "0 OK"
    assert server.get("/db/get?key=a").text == "0 one two"
    assert ask(server, "RPUSH", "list", "one", "two") == "0 2"
    assert ask(server, "LRANGE", "list", "0", "-1") == "0 2 elements"
    assert ask(server, "INCR", "list") == "-1 WRONGTYPE Operation against a key holding the wrong kind of value"
    assert server.get("/db/pop?key=list&ms=50000").text == "0 2 elements"
    assert server.get("/db/alone").text == "0 alone"
    assert server.get("/db/wrong").text == "all refused"
    assert redis.text("GET", "a") == "one two"
    assert all_were_answered(server)
    assert redis.clients() == 1


def test_commands_in_their_order(serve, redis):
    server = serve(redis)
    assert server.get("/db/many?n=500").text == "500"
    assert redis.clients() == 1


def test_long_values(serve, redis):
    server = serve(redis)
    body = bytes(range(1, 128)) * 8000
    assert server.request("/db/set?key=a", "POST", body=body, timeout=WITHIN).text == "0 OK"
    assert server.get("/db/get?key=a", timeout=WITHIN).body == b"0 " + body


def test_more_commands_than_may_wait(serve, redis):
    server = serve(redis)
    redis.pause()
    with asking(server, "/db/many?n=2000") as texts:
        assert eventually(lambda: counts(server)[0] == 1024, within=WITHIN)
        assert server.get("/db/get?key=a").text == "-6"
        redis.go_on()
    assert texts == ["1024"]
    assert works(server)
    assert all_were_answered(server)


def test_several_connections(serve, redis):
    server = serve(redis, PATIENT + ",.connections=3")
    with asking(server, *["/db/pop?key=never"] * 2) as texts:
        assert eventually(lambda: redis.clients() == 2, within=WITHIN)
        assert works(server)
        assert redis.clients() == 3
        redis.ask("RPUSH", "never", "one", "two")
    assert texts == ["0 2 elements"] * 2


def all_count_over_one_connection(server, key, redis, turns):
    """Clients of all workers count up at the same time, and their server has no more than one connection to this one."""
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in range(16)]
        for turn in range(turns):
            for client in clients:
                client.send(f"GET /db/ask?c=INCR,{key} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            first = turn * len(clients) + 1
            assert sorted(int(client.response().text.split()[1]) for client in clients) == list(range(first, first + len(clients)))
            assert redis.clients() <= 1


def test_workers_that_share_one_connection(start, tmp_path, redis):
    duda.build(tmp_path / "services", "packaged_redis3", name="db", level=3,
               flags=("-fcommon", f'-DSERVER="redis://{redis.address}/2?connections=1"', f"-DOPTIONS={PATIENT}"))
    server = start(**duda.config(tmp_path / "services", "db", duda={"PackagesRoot": duda.packages()}, server="Workers 4\nScheduler Fair\n"))
    all_count_over_one_connection(server, "n", redis, turns=20)
    assert all_were_answered(server)


def test_a_password_and_a_database(serve, tmp_path):
    with redis_server.Server(tmp_path, "--requirepass", "secret") as redis:
        server = serve(redis, PATIENT + ',.password="secret",.db=3')
        assert ask(server, "SET", "a", "three") == "0 OK"
        assert redis.text("GET", "a") is None  # in the database 0
        assert "db3" in redis.text("INFO", "keyspace")


def test_a_user(serve, redis):
    redis.ask("ACL", "SETUSER", "ann", "on", ">pw", "~a*", "+get", "+set")
    server = serve(redis, PATIENT + ',.user="ann",.password="pw"')
    assert ask(server, "SET", "a", "1") == "0 OK"
    assert ask(server, "SET", "b", "1").startswith("-1 NOPERM")


REFUSALS = {
    "a password": (',.password="wrong"', "WRONGPASS"),
    "a user": (',.user="nobody",.password="wrong"', "WRONGPASS"),
    "a database": (",.db=99", "ERR DB index is out of range"),
}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_server_that_refuses(serve, redis, refusal):
    options, words = REFUSALS[refusal]
    if refusal == "a password":
        redis.ask("CONFIG", "SET", "requirepass", "secret")
    server = serve(redis, PATIENT + options)
    assert ask(server, "SET", "a", "1").startswith(f"-3 {words}")
    assert all_were_answered(server)


# ---- channels


def is_heard(server, text):
    return eventually(lambda: server.get("/db/heard").text == text, within=WITHIN)


def test_channels(serve, redis):
    server = serve(redis)
    assert server.get("/db/listen?channel=news").text == "0"
    assert server.get("/db/listen?channel=news").text == "-1"
    text = "it news/0 from now on;"
    assert is_heard(server, text)
    assert server.get("/db/listen?channel=other").text == "0"
    text += "it other/0 from now on;"
    assert is_heard(server, text)
    assert redis.ask("PUBLISH", "news", "one") == b":1\r\n"
    assert redis.ask("PUBLISH", "nothing", "one") == b":0\r\n"
    assert redis.ask("PUBLISH", "other", "") == b":1\r\n"
    text += "it news/3 one;it other/0 ;"
    assert is_heard(server, text)
    assert redis.ask("PUBLISH", "news", "enough") == b":1\r\n"
    text += "it news/6 enough;"
    assert is_heard(server, text)
    assert eventually(lambda: redis.ask("PUBLISH", "news", "more") == b":0\r\n", within=WITHIN)
    assert server.get("/db/mute?channel=other").text == "0"
    assert eventually(lambda: redis.clients() == 0, within=WITHIN)
    assert server.get("/db/listen?channel=news").text == "0"
    assert is_heard(server, text + "it news/0 from now on;")


def test_channels_of_a_server_that_is_restarted(serve, redis):
    server = serve(redis)
    server.get("/db/listen?channel=news")
    text = "it news/0 from now on;"
    assert is_heard(server, text)
    redis.kill()
    redis.start()
    text += "it news/0 from now on;"
    assert is_heard(server, text)
    assert redis.ask("PUBLISH", "news", "again") == b":1\r\n"
    assert is_heard(server, text + "it news/5 again;")


def test_channels_of_a_server_that_is_paused(serve, redis):
    server = serve(redis, ".timeout_ms=500")
    server.get("/db/listen?channel=news")
    assert eventually(lambda: "from now on" in server.get("/db/heard").text, within=WITHIN)
    redis.pause()
    with asking(server, "/db/get?key=a") as texts:
        pass
    assert texts == ["-2 no answer within the time limit"]
    redis.go_on()
    assert eventually(lambda: works(server), within=WITHIN)
    assert eventually(lambda: redis.ask("PUBLISH", "news", "again") == b":1\r\n" and "again" in server.get("/db/heard").text,
                      within=WITHIN)


# ---- failures


def test_no_server_listens(serve, redis):
    redis.kill()
    server = serve(redis)
    assert ask(server, "GET", "a") in (f"-3 {redis.address}: Connection refused", "-3")
    assert eventually(lambda: server.get("/db/get?key=a").status == 503, within=WITHIN)  # at once, for a while
    redis.start()
    assert eventually(lambda: works(server), within=WITHIN)
    assert all_were_answered(server)


def test_the_server_is_killed_with_commands(serve, redis):
    server = serve(redis)
    assert works(server)
    with asking(server, *["/db/pop?key=never"] * 2) as texts:
        assert eventually(lambda: counts(server)[0] == 3, within=WITHIN)
        redis.kill()
    assert [text.split()[0] for text in texts] == ["-4", "-4"]
    redis.start()
    assert eventually(lambda: works(server), within=WITHIN)
    assert all_were_answered(server)


def test_the_server_is_restarted(serve, redis):
    server = serve(redis)
    assert works(server)
    before = server.open_descriptors()
    for _ in range(3):
        redis.kill()
        redis.start()
        assert eventually(lambda: works(server), within=WITHIN)
    assert redis.clients() == 1
    assert eventually(lambda: server.open_descriptors() <= before, within=WITHIN)
    assert all_were_answered(server)


def test_the_server_is_paused(serve, redis):
    server = serve(redis, ".timeout_ms=500")
    assert eventually(lambda: works(server), within=WITHIN)
    redis.pause()
    with asking(server, *["/db/get?key=a"] * 5) as texts:
        pass
    assert {text.split()[0] for text in texts} in ({"-2"}, {"-2", "-4"})  # one that comes late is lost with the connection
    assert server.get("/db/counts").status == 200
    redis.go_on()
    assert eventually(lambda: works(server), within=WITHIN)
    assert all_were_answered(server)
    assert eventually(lambda: redis.clients() == 1, within=WITHIN)


def test_a_failure_is_logged_once_for_all_workers(start, tmp_path, redis):
    build(tmp_path / "services", "db", redis)
    server = start(**duda.config(tmp_path / "services", "db", duda={"PackagesRoot": duda.packages()}, server="Workers 4\nScheduler Fair\n"))

    def all_of(check):
        """So many connections at a time that each worker has some."""
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(server.connect()) for _ in range(16)]
            for client in clients:
                client.send(b"GET /db/ask?c=PING HTTP/1.1\r\nHost: a\r\n\r\n")
            return all([check(client.response().text) for client in clients])

    for outages in (1, 2):
        assert eventually(lambda: all_of(lambda text: text == "0 PONG"), within=WITHIN)
        redis.kill()
        assert eventually(lambda: all_of(lambda text: text != "0 PONG"), within=WITHIN)
        assert all_of(lambda text: text != "0 PONG")
        assert server.log().count(f"redis: {redis.address} is left out: ") == outages
        redis.start()
    assert eventually(lambda: works(server) and server.log().count("is back") == 2, within=WITHIN)


def test_a_server_that_is_full(serve, tmp_path):
    with redis_server.Server(tmp_path, "--maxclients", "12") as full:
        server = serve(full, options=".timeout_ms=2000")
        with contextlib.ExitStack() as others:
            for _ in range(16):
                others.enter_context(socket.create_connection(("127.0.0.1", full.port)))
            assert eventually(lambda: result(server, "PING") < 0, within=WITHIN)
            assert all(result(server, "PING") < 0 for _ in range(10))
        assert eventually(lambda: works(server), within=WITHIN)
        with contextlib.ExitStack() as others:
            for _ in range(16):
                others.enter_context(socket.create_connection(("127.0.0.1", full.port)))
            assert all(works(server) for _ in range(10))  # by the connection that there is
        assert all_were_answered(server)


def takes(sock):
    sock.sendall(b"PING\r\n")
    return b"max number" not in sock.recv(100)


@pytest.mark.parametrize("password", ["", "secret"])
def test_a_server_that_refuses_all_but_one(serve, tmp_path, password):
    with redis_server.Server(tmp_path, "--maxclients", "2", "--requirepass", password) as full, contextlib.ExitStack() as stack:
        server = serve(full, PATIENT + f',.connections=4,.password="{password}"')
        assert eventually(lambda: takes(stack.enter_context(socket.create_connection(("127.0.0.1", full.port)))), within=WITHIN)
        full.pause()
        with asking(server, *["/db/ask?c=PING"] * 4) as texts:
            assert eventually(lambda: counts(server)[0] == 4, within=WITHIN)
            full.go_on()
        assert texts == ["0 PONG"] * 4
        assert all(works(server) for _ in range(10))
        assert "left out" not in server.log()


def test_a_script_that_answers_like_a_full_server(serve, redis):
    server = serve(redis)
    assert works(server)
    full = "return%20redis.error_reply('ERR%20max%20number%20of%20clients%20of%20this%20shop')"
    assert ask(server, "EVAL", full, "0").endswith(" ERR max number of clients of this shop")
    assert works(server)
    assert "left out" not in server.log()


def test_a_slow_answer_is_nobody_elses(serve, redis):
    server = serve(redis)
    with asking(server, "/db/pop?key=never&ms=300", "/db/pop?key=other&ms=50000") as texts:
        assert eventually(lambda: counts(server)[0] == 2 and len(texts) == 1, within=WITHIN)
        assert texts == ["-2 no answer within the time limit"]
        redis.ask("RPUSH", "never", "late")  # which nobody waits for
        redis.ask("RPUSH", "other", "in time")
    assert texts[1] == "0 2 elements"
    assert works(server)
    assert all_were_answered(server)
    assert redis.clients() == 1


LIES = {
    "garbage": (b"\0\xff\r\n", False, -5),
    "another protocol": (b"HTTP/1.1 400 Bad Request\r\n\r\n", False, -5),
    "a huge array": (b"*99999999\r\n", False, -5),
    "a huge length": (b"$9999999999999999999999\r\n", False, -5),
    "arrays of arrays": (b"*1\r\n" * 50, False, -5),
    "two answers": (b"+OK\r\n+OK\r\n", False, 0),
    "half an answer": (b"$10\r\nhalf", False, -2),
    "a long text that does not come": (b"$99999999\r\n", False, -2),
    "nothing": (b"", False, -2),
    "half an answer and the end": (b"$10\r\nhalf", True, -4),
    "only the end": (b"", True, -4),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_server_that_lies(serve, lie):
    answer, closes, wanted = LIES[lie]
    with Liar(answer, closes) as liar:
        server = serve(liar, ".timeout_ms=1000" if wanted == -2 else PATIENT)
        assert result(server, "GET", "a") == wanted
        assert eventually(lambda: result(server, "GET", "a") == -3 and liar.connections > 1, within=WITHIN)  # left out
        assert all_were_answered(server)


def test_clients_leave(serve, redis):
    server = serve(redis, ".timeout_ms=8000,.connections=2")
    with server.connect() as one, server.connect() as two:
        for client in (one, two):
            client.send(POP)
        assert eventually(lambda: counts(server)[0] == 2, within=WITHIN)
    assert all_were_answered(server)
    assert counts(server) == [2, 2, 2]
    redis.ask("RPUSH", "never", "one", "two")
    assert eventually(lambda: works(server), within=WITHIN)
    assert eventually(lambda: redis.clients() <= 2, within=WITHIN)


def test_two_services_do_not_meet(start, tmp_path, redis):
    folder = tmp_path / "services"
    with redis_server.Server(tmp_path, name="second") as second:
        build(folder, "db", redis)
        build(folder, "other", second)
        server = start(**config(folder, "db", "other"))
        assert ask(server, "SET", "a", "1") == "0 OK"
        assert ask(server, "GET", "a", name="other") == "0 nil"
        redis.kill()
        assert eventually(lambda: result(server, "GET", "a") == -3, within=WITHIN)
        assert ask(server, "SET", "a", "2", name="other") == "0 OK"
        assert counts(server, "other") == [2, 2, 0]


def test_the_server_ends_with_commands(serve, redis):
    server = serve(redis)
    server.get("/db/listen?channel=news")
    assert is_heard(server, "it news/0 from now on;")
    with server.connect() as client:
        client.send(POP)
        assert eventually(lambda: counts(server)[0] == 1, within=WITHIN)
    server.stop()


def test_a_reload_with_commands(serve, tmp_path, redis):
    server = serve(redis)
    server.get("/db/listen?channel=news")
    assert is_heard(server, "it news/0 from now on;")
    with server.connect() as client:
        client.send(POP)
        assert eventually(lambda: counts(server)[0] == 1, within=WITHIN)
        build(tmp_path / "services", "db", redis)
        server.reload()
        assert eventually(lambda: counts(server) == [0, 0, 0], within=WITHIN)
        redis.ask("RPUSH", "never", "one")
        assert client.response().text == "0 2 elements"
    assert works(server)
    assert eventually(lambda: redis.clients() == 1, within=WITHIN)
