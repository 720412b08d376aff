# SPDX-License-Identifier: Apache-2.0
"""What a client does, or a URL is, is not the health of a backend; and when all are offline, one is asked all the same."""

import contextlib
import json
import socket
import threading
import time

import pytest

from harness import http
from harness.backend import Backend, backends, proxy, servers
from harness.client import eventually, free_port

STATISTICS = "StatisticsURL /stats"
BIG = 30_000_000  # more than sockets and pipes hold


def of(server, backend):
    entries = json.loads(server.get("/stats?format=json").text)["entries"]
    return {fact["name"]: fact for fact in entries[0]["backends"]}[backend.address]


@pytest.fixture
def two():
    with backends(2) as made:
        yield made


def configuration(two, more="", read="20"):
    return proxy(f"Match ^/\n{servers(two)}\nLoadBalancer First-Alive\nAttemptsCount 2\nOfflineTimeOut 60\n"
                 f"ReadTimeout {read}\n{STATISTICS}\n{more}")


def is_well(server, backend):
    """It is up, owes nothing, and gets the requests."""
    fact = of(server, backend)
    return (fact["state"], fact["recent_failures"]) == ("up", 0) and server.get("/").text == backend.name


# -- the client


def answer_big(conn, request):
    """Without waiting for the body."""
    conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % BIG)
    conn.send(b"x" * BIG)


def serve_big(name):
    def serve(conn):
        while request := conn.head():
            if request.target == "/big":
                answer_big(conn, request)
            else:
                conn.answer(name.encode())
    return serve


@pytest.mark.parametrize("head, end", [
    pytest.param("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", lambda c: c.send("ZZ\r\n"), id="bad_chunk"),
    pytest.param("Content-Length: 100000\r\n\r\nhello", lambda c: c.finish_sending(), id="ended"),
    pytest.param("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", lambda c: c.send("10000000\r\n"), id="too_long"),
])
def test_a_bad_body_while_the_answer_is_on_its_way(start, head, end):
    with Backend(serve=serve_big("a"), name="a") as a, Backend(name="b") as b:
        server = start(extra=configuration([a, b], "RequestBuffering off"))
        for _ in range(3):
            with server.connect(receive_buffer=4096) as client:
                client.send("GET /big HTTP/1.1\r\nHost: a\r\n" + head)
                got = 0
                while got < 100_000:
                    got += len(client.stream.some())
                end(client)
                client.rest_until_cut()
        assert eventually(lambda: of(server, a)["active"] == 0)
        assert is_well(server, a)


@pytest.mark.parametrize("head", ["Content-Length: 100\r\n\r\nx", "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"])
@pytest.mark.parametrize("says", [b"", b"HTTP/1.1 408 Req", b"HTTP/1.1 408 Timeout\r\nContent-Length: 4\r\n\r\nslow"])
def test_a_backend_that_gives_up_on_a_slow_upload(start, head, says):
    def serve(conn):
        while request := conn.head():
            if request.method == "POST":
                time.sleep(0.2)
                conn.send(says)
                return
            conn.answer(b"a")

    with Backend(serve=serve, name="a") as a, Backend(name="b") as b:
        server = start(extra=configuration([a, b], "RequestBuffering off"))
        for _ in range(3):
            with server.connect() as client:
                client.send("POST / HTTP/1.1\r\nHost: a\r\n" + head)
                assert client.response().status == (408 if says.endswith(b"slow") else 502)
        assert is_well(server, a)


def test_a_backend_that_gives_up_on_a_slow_reader(start):
    """Its own time to write is over, and it closes."""
    gone = threading.Event()

    def each(conn, request):
        if request.target != "/big":
            return conn.answer(b"a")
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % BIG)
        conn.sock.settimeout(1.5)
        try:
            conn.send(b"x" * BIG)
        finally:
            conn.reset()
            gone.set()
        return None

    with Backend(each=each, name="a") as a, Backend(name="b") as b:
        server = start(extra=configuration([a, b]))
        for _ in range(2):
            gone.clear()
            with server.connect(receive_buffer=4096) as client:
                client.send(http.request("/big"))
                assert client.stream.some()
                gone.wait(10)
                time.sleep(1.5)
                client.rest_until_cut()
        assert eventually(lambda: of(server, a)["active"] == 0)
        fact = of(server, a)
        assert fact["state"] == "up" and fact["recent_failures"] == 0
        assert server.get("/").text == "a"


# -- heads


@pytest.mark.parametrize("head", [
    pytest.param(b"HTTP/1.1 302 Found\r\nLocation: /" + b"x" * 70_000 + b"\r\n\r\n", id="too_large"),
    pytest.param(b"HTTP/1.1 302 Found\r\nLocation: /a\0b\r\n\r\n", id="nul"),
    pytest.param(b"HTTP/1.1 200 OK\r\nConnection: " + b"x, " * 3000 + b"\r\nContent-Length: 0\r\n\r\n", id="connection"),
    pytest.param(b"HTTP/1.1 103 Early\r\n\r\n" * 100, id="interim"),
    pytest.param(b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", id="upgrade"),
    pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", id="lengths"),
])
def test_a_head_that_is_refused(start, two, head):
    a, _ = two
    a.each = lambda conn, request: conn.send(head) if request.target == "/long" else conn.answer(b"a")
    server = start(extra=configuration(two))
    for _ in range(3):
        assert server.get("/long").status == 502
    server.wait_for_log("proxy answer refused")
    assert is_well(server, a)


def test_what_is_no_head_is_a_failure(start, two):
    """Something else listens there."""
    a, _ = two
    a.each = lambda conn, request: conn.send(b"SSH-2.0-OpenSSH_9\r\n")
    server = start(extra=configuration(two))
    for _ in range(2):
        assert server.get("/").status == 502
    assert of(server, a)["state"] == "offline"


# -- URLs


def test_a_slow_url_is_not_a_dead_server(start, two):
    a, _ = two
    release = threading.Event()
    a.each = lambda conn, request: release.wait(20) if request.target == "/slow" else conn.answer(b"a")
    server = start(server="Workers 1", extra=configuration(two, read="1"))
    for _ in range(3):
        with server.connect() as client:
            client.send(http.request("/slow"))
            time.sleep(0.3)
            assert server.get("/").text == "a"
            assert client.response().status == 504
    assert is_well(server, a)
    release.set()


def test_a_silent_server_is_a_dead_one(start, two):
    a, _ = two
    release = threading.Event()
    a.each = lambda conn, request: release.wait(20)
    server = start(extra=configuration(two, read="300ms"))
    for _ in range(2):
        assert server.get("/").status == 504
    assert of(server, a)["state"] == "offline" and server.get("/").text == "b"
    server.wait_for_log("backend offline .*why=silent")
    release.set()


def crash(conn, request):
    if request.target == "/crash":
        conn.send(b"HTTP/1.1 20")
        conn.close()
    else:
        conn.answer(b"a")


def test_a_success_pays_a_failure_back(start, two):
    """A URL that crashes now and then, among good ones."""
    a, _ = two
    a.each = crash
    server = start(server="Workers 1", extra=configuration(two))
    for _ in range(5):
        assert server.get("/crash").status == 502
        assert of(server, a)["recent_failures"] == 1
        assert server.get("/").text == "a"
        assert eventually(lambda: of(server, a)["recent_failures"] == 0)
    for _ in range(2):
        assert server.get("/crash").status == 502
    assert of(server, a)["state"] == "offline"


# -- nobody else


def test_a_single_backend_is_always_asked(start):
    with Backend(name="a", each=crash) as a:
        server = start(extra=configuration([a]))
        for _ in range(5):
            assert server.get("/crash").status == 502
            assert server.get("/").text == "a"
        a.stop()
        for _ in range(4):
            assert server.get("/").status == 502
        assert of(server, a)["state"] == "up"
        a.start()  # a deploy
        assert server.get("/").text == "a"


def test_offline_single(start):
    with Backend(name="a") as a:
        server = start(extra=configuration([a], "OfflineSingle on"))
        a.stop()
        for _ in range(2):
            assert server.get("/").status == 502
        a.start()
        for _ in range(3):
            assert server.get("/").status == 502
        fact = of(server, a)
        assert (fact["state"], fact["refused"]) == ("offline", 2)


def test_a_single_backend_that_a_check_put_offline_is_asked(start):
    """Only the check brings it back."""
    with Backend(name="a", each=lambda c, q: c.answer(b"a", status="500 No" if q.target == "/health" else "200 OK")) as a:
        server = start(extra=configuration([a], "HealthCheck /health 100ms"))
        assert eventually(lambda: of(server, a)["state"] == "offline")
        for _ in range(3):
            assert server.get("/").text == "a"
        assert of(server, a)["state"] == "offline"


def test_the_one_offline_longest_is_asked_when_all_are(start, two):
    a, b = two
    server = start(server="Workers 1", extra=configuration(two))
    a.stop()
    for _ in range(2):
        assert server.get("/").text == "b"
    assert of(server, a)["state"] == "offline"
    time.sleep(0.05)
    b.stop()
    for _ in range(2):
        assert server.get("/").status == 502
    assert of(server, b)["state"] == "offline"
    assert server.get("/").status == 502
    a.start()
    assert server.get("/").text == "a"  # at once, long before the minute is over
    assert of(server, a)["state"] == "up" and of(server, b)["state"] == "offline"
    server.wait_for_log("backend online")


@pytest.mark.parametrize("balancer", ["Naive", "First-Alive", "RoundRobin", "LockingRoundRobin", "LeastConnections",
                                      "SourceHash", "Random2", "ConsistentHash"])
def test_every_balancer_asks_the_last(start, two, balancer):
    server = start(extra=proxy(f"Match ^/\n{servers(two)}\nLoadBalancer {balancer}\nAttemptsCount 1\nOfflineTimeOut 60\n"
                               f"{STATISTICS}"))
    for backend in two:
        backend.stop()
    for _ in range(6):
        assert server.get("/").status == 502
    assert {of(server, backend)["state"] for backend in two} == {"offline"}
    for backend in two:
        backend.start()
    assert server.get("/").status == 200
    assert sum(of(server, backend)["active"] for backend in two) == 0


def failures_of_all(server):
    (entry,) = json.loads(server.get("/stats?format=json").text)["entries"]
    return sum(fact["failures"] for fact in entry["backends"])


def test_those_that_are_silent_are_not_all_waited_for(start):
    """Their queues are full: no connection is refused, and none comes about."""
    with contextlib.ExitStack() as stack:
        silent = []
        for _ in range(4):
            listener = stack.enter_context(socket.socket())
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            for _ in range(3):
                filler = stack.enter_context(socket.socket())
                filler.setblocking(False)
                filler.connect_ex(listener.getsockname())
            silent.append(f"127.0.0.1:{listener.getsockname()[1]}")
        server = start(extra=proxy(f"Match ^/\n{servers(silent)}\nAttemptsCount 1\nOfflineTimeOut 60\nConnectTimeout 500ms\n"
                                   f"{STATISTICS}"))
        assert server.get("/").status == 504  # asks each of them, and all are offline then
        before = failures_of_all(server)
        assert server.get("/").status == 504
        assert failures_of_all(server) <= before + 1


def test_all_offline_of_many_is_still_told_in_time(start):
    server = start(extra=proxy(f"Match ^/\nServerList {' '.join(f'127.0.0.1:{free_port()}' for _ in range(20))}\n"
                               f"OfflineTimeOut 600\nConnectTimeout 600"))
    for _ in range(5):
        assert server.get("/").status == 502
