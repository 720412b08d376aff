# SPDX-License-Identifier: Apache-2.0
"""Each balancer counts what each backend got: under concurrency, with unequal backends, and while backends go and come back."""

import collections
import select
import threading
import time

import pytest

from harness import http
from harness.backend import backends, proxy, servers
from harness.client import eventually

THREADS = 4
BALANCERS = ["Naive", "First-Alive", "RoundRobin", "LockingRoundRobin", "LeastConnections", "SourceHash", "Random2",
             "ConsistentHash"]


def ask_many(server, each, target="/", threads=THREADS, per_connection=20, **kwargs):
    """Ask `each` times in so many threads. @return what answered how often, and what was no 200."""
    got, wrong, lock = collections.Counter(), [], threading.Lock()

    def work(number):
        mine = collections.Counter()
        done = 0
        while done < each:
            with server.connect(**kwargs) as connection:
                for _ in range(min(per_connection, each - done)):
                    answer = connection.request(target.format(number=number, turn=done))
                    done += 1
                    if answer.status == 200:
                        mine[answer.text] += 1
                    else:
                        wrong.append(answer.status)
        with lock:
            got.update(mine)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return got, wrong


@pytest.fixture
def three():
    with backends(3) as made:
        yield made


def start_one(start, made, balancer, lines="", weights=None):
    return start(extra=proxy(f"Match ^/\n{servers(made, weights)}\nLoadBalancer {balancer}\n{lines}"))


@pytest.mark.parametrize("balancer", ["RoundRobin", "LockingRoundRobin", "round-robin", "Lockless", "LOCKING_ROUND ROBIN"])
def test_in_turn_over_all_workers(start, three, balancer):
    server = start_one(start, three, balancer)
    got, wrong = ask_many(server, each=150)
    assert not wrong
    assert got == {"a": 200, "b": 200, "c": 200}
    assert [len(backend.requests) for backend in three] == [200, 200, 200]


@pytest.mark.parametrize("balancer", ["RoundRobin", "LockingRoundRobin", "Naive"])
@pytest.mark.connection("Naive chooses by the connection")
def test_a_backend_written_twice_gets_twice_as_much(start, three, balancer):
    server = start_one(start, three, balancer, weights=[2, 1, 1])
    got, wrong = ask_many(server, each=100, per_connection=1)
    assert not wrong
    if balancer == "Naive":  # by the numbers of connections, of which some may be other ones
        assert 170 < got["a"] < 230
    else:
        assert got == {"a": 200, "b": 100, "c": 100}


@pytest.mark.connection("Naive chooses by the connection")
def test_naive_keeps_a_connection_with_one_backend(start, three):
    server = start_one(start, three, "Naive")
    seen = collections.Counter()
    for _ in range(12):
        with server.connect() as connection:
            answers = {connection.request("/").text for _ in range(5)}
        assert len(answers) == 1
        seen.update(answers)
    assert set(seen) == {"a", "b", "c"}


def test_first_alive_goes_down_the_list_and_back(start, three):
    server = start_one(start, three, "First-Alive", "OfflineTimeOut 1")
    assert ask_many(server, each=20) == ({"a": 80}, [])
    three[0].stop()
    assert ask_many(server, each=20) == ({"b": 80}, [])
    three[1].stop()
    assert ask_many(server, each=20) == ({"c": 80}, [])
    three[0].start()
    assert eventually(lambda: server.get("/").text == "a", every=0.1)
    assert ask_many(server, each=20)[0]["a"] >= 78


def test_least_connections_is_exact_over_all_workers(start, three):
    """While 24 requests are held by backends that do not answer, each has eight of them; twice as many who counts twice."""
    release = threading.Event()
    for backend in three:
        backend.each = lambda conn, request: (release.wait(20), conn.answer(b"held"))
    server = start_one(start, three, "LeastConnections", weights=[2, 1, 1])
    connections = [server.connect() for _ in range(24)]
    for connection in connections:
        connection.send(http.request("/"))
    assert eventually(lambda: sum(backend.active for backend in three) == 24)
    assert [backend.active for backend in three] == [12, 6, 6]
    release.set()
    for connection in connections:
        assert connection.response().text == "held"


@pytest.mark.parametrize("balancer", [name for name in BALANCERS if "Hash" not in name])
@pytest.mark.connection("looks whether a socket has an answer")
def test_nobody_waits_while_another_has_room(start, three, balancer):
    """Two of three hold all the connections that they may have: what comes then is the third's, at once."""
    release = threading.Event()
    for backend in three[:2]:
        backend.each = lambda conn, request: (release.wait(20), conn.answer(b"held"))
    server = start_one(start, three, balancer, "MaxConnections 1\nKeepAlive 0")
    held = []
    while [backend.active for backend in three[:2]] != [1, 1] and len(held) < 30:
        held.append(server.connect())
        held[-1].send(http.request("/"))
        eventually(lambda: select.select([held[-1].sock], [], [], 0)[0] or all(b.active for b in three[:2]), within=0.3)
    assert [backend.active for backend in three[:2]] == [1, 1]
    assert [server.get("/").text for _ in range(20)] == ["c"] * 20
    release.set()
    for connection in held:
        connection.close()


@pytest.mark.parametrize("balancer", [name for name in BALANCERS if "Hash" in name])
def test_who_goes_by_a_hash_waits_for_its_backend(start, three, balancer):
    server = start_one(start, three, balancer, "MaxConnections 1\nQueueTimeout 20")
    name = server.get("/").text
    release = threading.Event()
    three["abc".index(name)].each = lambda conn, request: (release.wait(20), conn.answer(b"held"))
    connections = [server.connect() for _ in range(3)]
    for connection in connections:
        connection.send(http.request("/"))
    time.sleep(0.2)
    release.set()
    assert [connection.response().text for connection in connections] == ["held"] * 3


@pytest.mark.timed
def test_least_connections_gives_less_to_who_is_slow(start, three):
    slow = three[0]
    slow.each = lambda conn, request: (time.sleep(0.1), conn.answer(b"a"))
    server = start_one(start, three, "LeastConnections")
    got, wrong = ask_many(server, each=60, threads=6)
    assert not wrong
    assert got["a"] < got["b"] / 2 and got["a"] < got["c"] / 2
    assert got["a"] > 0


@pytest.mark.timed
def test_random2_spreads_and_avoids_the_busy(start, three):
    server = start_one(start, three, "Random2")
    got, wrong = ask_many(server, each=150)
    assert not wrong
    assert all(got[name] > 0.1 * got.total() for name in "abc"), got  # one that the system lets wait is busy too
    three[0].each = lambda conn, request: (time.sleep(0.5), conn.answer(b"a"))  # longer than a slow machine needs for the others
    got, wrong = ask_many(server, each=30, threads=6)
    assert not wrong
    assert got["a"] < got["b"] and got["a"] < got["c"], got


@pytest.mark.parametrize("balancer", ["SourceHash", "ConsistentHash"])
@pytest.mark.connection("chosen by the client's address")
def test_an_address_stays_with_its_backend(start, three, balancer):
    server = start_one(start, three, balancer)
    first = {}
    for turn in range(3):
        for host in range(1, 41):
            source = f"127.0.0.{host}"
            with server.connect(source=source) as connection:
                answer = connection.request("/").text
            assert first.setdefault(source, answer) == answer
    assert set(first.values()) == {"a", "b", "c"}


@pytest.mark.parametrize("key, ask", [
    ("URI", lambda server, n: server.get(f"/{n}?x={n}")),
    ("Header X-User", lambda server, n: server.get("/", headers={"x-user": f"user{n}"})),
])
def test_consistent_hash_goes_by_its_key(start, three, key, ask):
    server = start_one(start, three, "ConsistentHash", f"HashKey {key}\nOfflineTimeOut 1")
    before = {n: ask(server, n).text for n in range(60)}
    assert set(before.values()) == {"a", "b", "c"}
    assert {n: ask(server, n).text for n in range(60)} == before
    three[1].stop()
    without = {n: ask(server, n).text for n in range(60)}
    assert {n for n in without if without[n] != before[n]} == {n for n in before if before[n] == "b"}
    three[1].start()
    assert eventually(lambda: {n: ask(server, n).text for n in range(60)} == before, every=0.3)


@pytest.mark.parametrize("balancer", BALANCERS)
@pytest.mark.connection("some choose by the client's address or connection")
def test_while_backends_go_and_come_back(start, three, balancer):
    """No request fails, all go to who is there, and who comes back gets its share again."""
    server = start_one(start, three, balancer, "OfflineTimeOut 1\nConnectTimeout 1" +
                       ("\nHashKey URI" if balancer == "ConsistentHash" else ""))

    def ask():
        if balancer == "SourceHash":
            got, wrong = collections.Counter(), []
            for host in range(1, 61):
                with server.connect(source=f"127.0.0.{host}") as connection:
                    answer = connection.request("/")
                    got[answer.text if answer.status == 200 else "wrong"] += 1
            return got, ["wrong"] * got["wrong"]
        return ask_many(server, each=30, per_connection=1, target="/{number}/{turn}")

    everybody = {"a"} if balancer == "First-Alive" else {"a", "b", "c"}
    got, wrong = ask()
    assert (set(got), wrong) == (everybody, [])
    for gone in (0, 1):
        three[gone].stop()
        got, wrong = ask()
        assert not wrong
        assert set(got) == (({"b"} if gone == 0 else {"a"}) if balancer == "First-Alive" else everybody - {"abc"[gone]})
        three[gone].start()
        assert eventually(lambda: set(ask()[0]) == everybody, every=0.3)


def test_equal_shares_again_after_one_was_away(start, three):
    server = start_one(start, three, "LockingRoundRobin", "OfflineTimeOut 1")
    three[2].stop()
    got, wrong = ask_many(server, each=50)
    assert not wrong
    assert abs(got["a"] - got["b"]) <= 2 and got["a"] + got["b"] == 200
    three[2].start()
    assert eventually(lambda: server.get("/").text == "c", every=0.05)
    got, wrong = ask_many(server, each=75)
    assert not wrong
    assert all(abs(got[name] - 100) <= 2 for name in "abc"), got


def test_two_entries_do_not_count_together(start, three):
    server = start(extra=proxy(f"Match ^/one\n{servers(three)}", f"Match ^/two\n{servers(three[:1])}"))
    for _ in range(6):
        assert server.get("/two").text == "a"
    assert collections.Counter(server.get("/one").text for _ in range(9)) == {"a": 3, "b": 3, "c": 3}


def test_names_that_are_none(start, tmp_path):
    server = start(extra=proxy("Match ^/\nServerList 127.0.0.1:1\nLoadBalancer Sometimes"), wait=False)
    assert server.expect_exit() == 1
    assert "Naive, First-Alive" in server.log()
