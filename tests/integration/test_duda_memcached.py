# SPDX-License-Identifier: Apache-2.0
"""The package memcached: commands, several servers, and servers that fail."""

import threading

import pytest

from harness import memcached_server
from harness.client import eventually
from harness.liar import Liar
from harness.memcached_service import PATIENT, WITHIN, all_were_answered, build, config, counts, result

GET = b"GET /values/get?key=0 HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.fixture
def second(tmp_path):
    with memcached_server.Server(tmp_path, "second") as server:
        yield server


@pytest.fixture
def serve(start, tmp_path):
    """Starts the service with these servers, in order of their addresses; its worker has all connections."""

    def run(*servers, options=PATIENT, **rest):
        build(tmp_path / "services", " ".join(server.address for server in servers), options)
        return start(**config(tmp_path / "services", **rest))

    return run


def post(server, path, body=b"value"):
    return server.request(f"/values/{path}", "POST", body=body).text


def get(server, path):
    return server.get(f"/values/{path}").text


# ---- one server


def test_commands(serve, memcached):
    server = serve(memcached)
    assert get(server, "get") == "1 0 no such key"
    assert post(server, "replace") == "2 0 not stored"
    assert post(server, "set", b"one") == "0 0 done"
    assert get(server, "get") == "0 3 one"
    assert post(server, "add", b"two") == "2 0 not stored"
    assert post(server, "replace", b"two") == "0 0 done"
    assert get(server, "get") == "0 3 two"
    assert get(server, "incr?by=1") == "-1 0 CLIENT_ERROR cannot increment or decrement non-numeric value"
    assert post(server, "set", b"40") == "0 0 done"
    assert get(server, "incr?by=2") == "0 42 done"
    assert get(server, "decr?by=100") == "0 0 done"
    assert get(server, "touch?seconds=100") == "0 0 done"
    assert get(server, "drop") == "0 0 done"
    assert get(server, "drop") == "1 0 no such key"
    assert get(server, "incr?by=2") == "1 0 no such key"
    assert get(server, "touch?seconds=100") == "1 0 no such key"
    assert get(server, "alone") == "0 5 alone"
    assert post(server, "set?key=empty", b"") == "0 0 done"
    assert get(server, "get?key=empty") == "0 0 "
    assert get(server, "wrong") == "all refused"
    assert all_were_answered(server)


def test_values_expire(serve, memcached):
    server = serve(memcached)
    assert post(server, "set?seconds=2") == "0 0 done"
    assert eventually(lambda: get(server, "get") == "1 0 no such key", within=WITHIN)
    assert post(server, "set") == "0 0 done"
    assert get(server, "touch?seconds=1") == "0 0 done"
    assert eventually(lambda: get(server, "get") == "1 0 no such key", within=WITHIN)


def test_large_values(serve, memcached):
    server = serve(memcached, options=".value_max=3000000,.timeout_ms=60000")
    large = b"x" * 1_000_000
    assert post(server, "set", large) == "0 0 done"
    assert get(server, "get") == f"0 {len(large)} {large.decode()}"
    assert post(server, "set?key=huge", b"x" * 2_500_000).startswith("-1 0 SERVER_ERROR object too large")
    assert post(server, "set?key=other", large) == "0 0 done"
    assert server.request("/values/set", "POST", body=b"x" * 3_000_001).text == "-1"


def test_commands_are_pipelined(serve, memcached):
    server = serve(memcached, options=".connections=1,.timeout_ms=60000")
    assert get(server, "many?n=300") == "600"
    assert memcached.count("total_connections") <= 4
    assert get(server, "many?n=2000") == "1024"
    assert get(server, "many?n=0") == "none"


def test_many_requests(serve, memcached):
    server = serve(memcached, server="Workers 2\nScheduler Fair\n")
    seen = []

    def ask(number):
        for turn in range(20):
            post(server, f"set?key={number}", f"{number}.{turn}".encode())
            seen.append(get(server, f"get?key={number}") == f"0 {len(f'{number}.{turn}')} {number}.{turn}")

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 320
    assert counts(server) == [640, 640, 0]
    assert memcached.count("total_connections") <= 2 * 2 + 2


# ---- several servers


def fill(server, keys=100):
    for number in range(keys):
        assert post(server, f"set?key={number}") == "0 0 done"


def test_keys_are_spread(serve, memcached, second):
    server = serve(memcached, second)
    fill(server)
    assert memcached.count("curr_items") + second.count("curr_items") == 100
    assert 10 <= memcached.count("curr_items") <= 90


def test_a_dead_server_is_left_out_until_it_is_back(serve, memcached, second):
    server = serve(memcached, second)
    fill(server)
    mine = memcached.count("curr_items")
    memcached.kill()
    fill(server)  # the connections were idle: no command is lost
    assert second.count("curr_items") == 100
    assert counts(server)[:2] == [200, 200]
    memcached.start()

    def is_back():
        fill(server)
        return memcached.count("curr_items") == mine

    assert eventually(is_back, within=WITHIN)
    assert all_were_answered(server)


def test_no_server(serve, memcached):
    memcached.kill()
    server = serve(memcached)
    assert result(server, "get") == -3
    assert server.get("/values/get").status == 503
    memcached.start()
    assert eventually(lambda: result(server, "get") == 1, within=WITHIN)
    assert all_were_answered(server)


# ---- failures


def test_a_paused_server(serve, memcached, second):
    server = serve(memcached, second, options=".timeout_ms=5000")
    fill(server, 20)
    memcached.pause()
    results = [result(server, f"get?key={number}") for number in range(20)]
    assert results.count(-2) == 1 and results.count(0) + results.count(1) == 19
    memcached.go_on()
    assert eventually(lambda: [result(server, f"get?key={number}") for number in range(20)] == [0] * 20, within=WITHIN)
    assert all_were_answered(server)


def test_a_server_is_killed_with_commands(serve, memcached):
    server = serve(memcached, options=".timeout_ms=60000,.connections=1")
    fill(server, 1)
    memcached.pause()
    with server.connect() as one, server.connect() as two:
        for client in (one, two):
            client.send(GET)
        assert eventually(lambda: counts(server)[0] == 3, within=WITHIN)
        memcached.kill()
        assert [client.response().text.split()[0] for client in (one, two)] == ["-4", "-4"]
    memcached.start()
    assert eventually(lambda: result(server, "get?key=0") == 1, within=WITHIN)
    assert all_were_answered(server)


LIES = {
    "garbage": (b"\0\xff\r\n", False, -5),
    "another protocol": (b"HTTP/1.1 400 Bad Request\r\n\r\n", False, -5),
    "another key": (b"VALUE other 0 1\r\nx\r\nEND\r\n", False, -5),
    "a huge length": (b"VALUE key 0 99999999999999999999\r\n", False, -5),
    "a length above value_max": (b"VALUE key 0 1048577\r\n", False, -5),
    "a long line": (b"x" * 5000, False, -5),
    "half an answer": (b"VALUE key 0 10\r\nhalf", False, -2),
    "nothing": (b"", False, -2),
    "half an answer and the end": (b"VALUE key 0 10\r\nhalf", True, -4),
    "only the end": (b"", True, -4),
    "two answers": (b"END\r\nEND\r\n", False, 1),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_server_that_lies(serve, lie):
    answer, closes, wanted = LIES[lie]
    with Liar(answer, closes) as liar:
        server = serve(liar, options=".timeout_ms=1000" if wanted == -2 else PATIENT)
        assert result(server, "get") == wanted
        assert eventually(lambda: server.get("/values/get").text == "-3", within=WITHIN)
        assert eventually(lambda: liar.connections > 1, within=WITHIN)  # it is tried again
        assert all_were_answered(server)


def test_clients_leave(serve, memcached):
    server = serve(memcached, options=".timeout_ms=8000,.connections=1")
    fill(server, 1)
    memcached.pause()
    with server.connect() as one, server.connect() as two:
        for client in (one, two):
            client.send(GET)
        assert eventually(lambda: counts(server)[0] == 3, within=WITHIN)
    assert all_were_answered(server)
    assert counts(server) == [3, 3, 2]
    memcached.go_on()
    assert eventually(lambda: result(server, "get?key=0") == 0, within=WITHIN)


def test_no_connection_is_left_over(serve, memcached):
    server = serve(memcached)
    fill(server, 3)
    for _ in range(3):
        memcached.kill()
        eventually(lambda: result(server, "get?key=0") == -3, within=WITHIN)
        memcached.start()
        assert eventually(lambda: result(server, "get?key=0") >= 0, within=WITHIN)
    assert memcached.count("curr_connections") <= 2 + 3  # its own, and this one
    assert all_were_answered(server)


def test_two_services_do_not_meet(start, tmp_path, memcached, second):
    folder = tmp_path / "services"
    build(folder, memcached.address)
    build(folder, second.address, name="others")
    server = start(**config(folder, "values", "others"))
    assert post(server, "set", b"one") == "0 0 done"
    assert server.get("/others/get").text == "1 0 no such key"
    memcached.kill()
    assert eventually(lambda: result(server, "get") == -3, within=WITHIN)
    assert server.get("/others/get").text == "1 0 no such key"
    assert counts(server, "others") == [2, 2, 0]


def test_the_server_ends_with_commands(serve, memcached):
    server = serve(memcached)
    fill(server, 1)
    memcached.pause()
    with server.connect() as client:
        client.send(GET)
        assert eventually(lambda: counts(server)[0] == 2, within=WITHIN)
    server.stop()


def test_a_reload_with_commands(serve, tmp_path, memcached):
    server = serve(memcached)
    assert post(server, "set?key=0") == "0 0 done"
    memcached.pause()
    with server.connect() as client:
        client.send(GET)
        assert eventually(lambda: counts(server)[0] == 2, within=WITHIN)
        build(tmp_path / "services", memcached.address)
        server.reload()
        assert eventually(lambda: counts(server) == [0, 0, 0], within=WITHIN)
        memcached.go_on()
        assert client.response().text == "0 5 value"
    assert get(server, "get?key=0") == "0 5 value"
