# SPDX-License-Identifier: Apache-2.0
"""Backends that fail: offline, one probe, checks, slow start, and what a reload keeps of it."""

import collections
import json
import socket
import threading
import time

import pytest

from harness import http, process
from harness.backend import Backend, backends, proxy, servers
from harness.client import eventually, free_port

STATISTICS = "StatisticsURL /stats"


def facts(server, entry=0):
    answer = server.get("/stats?format=json")
    assert answer.status == 200, answer
    return {backend["name"]: backend for backend in json.loads(answer.text)["entries"][entry]["backends"]}


def of(server, backend):
    return facts(server)[backend.address]


@pytest.fixture
def two():
    with backends(2) as made:
        yield made


def break_head(conn, request):
    """Fail behind the request: a client sees 502 unless it may be asked elsewhere."""
    conn.send(b"HTTP/1.1 20")
    conn.reset()


def with_the_first_offline(start, two, more=""):
    """A server whose first backend refuses and is probed after a second."""
    server = start(extra=proxy(f"Match ^/\n{servers(two)}\nLoadBalancer First-Alive\nAttemptsCount 1\n"
                               f"OfflineTimeOut 1\n{STATISTICS}\n{more}"))
    two[0].stop()
    assert server.get("/").text == "b"
    return server


def test_attempts_count_puts_offline_for_the_time(start, two):
    a, b = two
    server = start(extra=proxy(f"Match ^/\n{servers(two)}\nLoadBalancer First-Alive\nAttemptsCount 3\n"
                               f"OfflineTimeOut 2\n{STATISTICS}"))
    a.stop()
    for count in (1, 2):
        assert server.get("/").text == "b"  # the next is tried at once
        assert (of(server, a)["state"], of(server, a)["recent_failures"]) == ("up", count)
    assert server.get("/").text == "b"
    fact = of(server, a)
    assert (fact["state"], fact["failures"], fact["refused"]) == ("offline", 3, 3)
    assert 0 < fact["next_try_ms"] <= 2000
    server.wait_for_log("backend offline .*why=refused")
    for _ in range(5):
        assert server.get("/").text == "b"
    assert of(server, a)["failures"] == 3  # nobody asked it
    a.start()
    assert eventually(lambda: server.get("/").text == "a", every=0.05)
    assert (of(server, a)["state"], of(server, a)["probes"]) == ("up", 1)
    server.wait_for_log("backend online")


def test_failures_far_apart_do_not_count_together(start, two):
    a, b = two
    server = start(extra=proxy(f"Match ^/\n{servers(two)}\nLoadBalancer First-Alive\nAttemptsCount 2\n"
                               f"AttemptsWindow 1500ms\nOfflineTimeOut 60\n{STATISTICS}"))
    a.stop()
    for _ in range(3):
        assert server.get("/").text == "b"
        time.sleep(1.8)
    assert of(server, a)["state"] == "up"
    for _ in range(2):
        assert server.get("/").text == "b"
    assert of(server, a)["state"] == "offline"


def test_one_probe_while_the_others_go_elsewhere(start, two):
    """A backend that comes back to life but does not answer yet costs one request, not all."""
    a, b = two
    release = threading.Event()
    server = with_the_first_offline(start, two)
    a.each = lambda conn, request: (release.wait(20), conn.answer(b"a"))
    a.requests.clear()
    a.start()
    time.sleep(1.2)
    connections = [server.connect() for _ in range(12)]
    for connection in connections:
        connection.send(http.request("/"))
    answered = []
    assert eventually(lambda: len(b.requests) >= 12 and a.requests)
    assert (len(a.requests), of(server, a)["state"]) == (1, "probing")
    release.set()
    for connection in connections:
        answered.append(connection.response().text)
    assert collections.Counter(answered) == {"a": 1, "b": 11}
    assert of(server, a)["state"] == "up"


def test_a_probe_decides_with_its_head(start, two):
    """An answer without an end, such as server-sent events, is no reason to keep the others away."""
    a, b = two
    server = with_the_first_offline(start, two)
    release = threading.Event()

    def forever(conn, request):
        if request.target != "/events":
            return conn.answer(b"a")
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
        release.wait(20)
        return None

    a.each = forever
    a.start()
    time.sleep(1.2)
    with server.connect() as stream:
        stream.send(http.request("/events"))
        assert stream.stream.some()
        assert eventually(lambda: of(server, a)["state"] == "up")
        assert server.get("/").text == "a"
    release.set()


def test_a_tunnel_decides_as_a_probe(start, two):
    """It may last for hours: its beginning says that the backend is well."""
    a, b = two
    server = with_the_first_offline(start, two)

    def upgrade(conn, request):
        if not request.header("Upgrade"):
            return conn.answer(b"a")
        conn.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
        return conn.more()

    a.each = upgrade
    a.start()
    time.sleep(1.2)
    with server.connect() as tunnel:
        tunnel.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
        assert http.read_head(tunnel.stream).status == 101
        assert of(server, a)["state"] == "up"
        assert server.get("/").text == "a"


def test_a_probe_that_does_not_decide_is_not_waited_for(start, two):
    """Its client sends its body for as long as it likes."""
    a, b = two
    server = with_the_first_offline(start, two, "RequestBuffering off")
    a.start()
    time.sleep(1.2)
    with server.connect() as slow:
        slow.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n1")
        assert eventually(lambda: of(server, a)["state"] == "probing")
        assert server.get("/").text == "b"
        assert eventually(lambda: server.get("/").text == "a", every=0.1)
        slow.send("2")
        assert slow.response().text == "a"
        assert of(server, a)["state"] == "up"


def test_a_failed_probe_waits_again(start, two):
    a, b = two
    server = start(extra=proxy(f"Match ^/\n{servers(two)}\nLoadBalancer First-Alive\nAttemptsCount 2\n"
                               f"OfflineTimeOut 3\n{STATISTICS}"))
    a.stop()
    for _ in range(2):
        assert server.get("/").text == "b"
    time.sleep(3.1)
    assert server.get("/").text == "b"  # the probe failed and was asked elsewhere
    fact = of(server, a)
    assert (fact["state"], fact["probes"]) == ("offline", 1) and fact["next_try_ms"] > 500


def test_zero_is_no_high_availability(start, two):
    a, b = two
    server = start(extra=proxy(f"Match ^/\n{servers(two)}\nLoadBalancer First-Alive\nOfflineTimeOut 0\n{STATISTICS}"))
    a.stop()
    for _ in range(5):
        assert server.get("/").text == "b"
    assert (of(server, a)["state"], of(server, a)["failures"]) == ("up", 5)
    a.start()
    assert server.get("/").text == "a"


def test_all_down_is_told_at_once(start):
    server = start(extra=proxy(f"Match ^/\nServerList 127.0.0.1:{free_port()} 127.0.0.1:{free_port()}\n"
                               f"OfflineTimeOut 600\nConnectTimeout 600\n{STATISTICS}"))
    for _ in range(4):
        assert server.get("/").status == 502
    assert {fact["state"] for fact in facts(server).values()} == {"offline"}


def test_an_answer_with_an_error_is_an_answer(start, two):
    a, _ = two
    a.each = lambda conn, request: conn.answer(b"mine", status="503 Busy")
    server = start(extra=proxy(f"Match ^/\n{servers(two)}\nLoadBalancer First-Alive\n{STATISTICS}"))
    for _ in range(5):
        assert server.get("/").status == 503
    assert (of(server, a)["state"], of(server, a)["answers_5xx"]) == ("up", 5)


def test_backends_that_break_go_offline_too(start, two):
    a, _ = two
    a.each = break_head
    server = start(extra=proxy(f"Match ^/\n{servers(two)}\nLoadBalancer First-Alive\nOfflineTimeOut 60\n{STATISTICS}"))
    statuses = [server.get("/").status for _ in range(6)]
    assert statuses[2:] == [200] * 4
    assert (of(server, a)["state"], of(server, a)["broke"]) == ("offline", 2)


# -- active checks


class Checked(Backend):
    """Answers checks with what it is told, and counts them."""

    def __init__(self, name):
        self.health = "200 OK"
        self.checks = []
        super().__init__(each=self.answer, name=name)

    def answer(self, conn, request):
        if request.target == "/health":
            self.checks.append(request)
            conn.answer(b"", status=self.health)
        else:
            conn.answer(self.name.encode())


@pytest.fixture
def checked():
    made = [Checked("a"), Checked("b")]
    yield made
    for backend in made:
        backend.stop()


def test_checks_find_out_without_a_request(start, checked):
    a, b = checked
    server = start(extra=proxy(f"Match ^/\n{servers(checked)}\nHealthCheck /health 200ms\nOfflineTimeOut 60\n{STATISTICS}"))
    assert eventually(lambda: of(server, a)["checks"] >= 2)
    assert a.checks[0].header("Host") == a.address and a.checks[0].header("Connection") == "close"
    assert of(server, a)["last_check"]["good"] is True
    a.health = "500 Broken"
    assert eventually(lambda: of(server, a)["state"] == "offline")
    assert of(server, a)["last_check"]["good"] is False
    assert of(server, a)["next_try_ms"] <= 200  # the next check, not the end of the minute
    assert {server.get("/").text for _ in range(6)} == {"b"}
    a.health = "204 No Content"
    assert eventually(lambda: of(server, a)["state"] == "up")  # long before its minute is over
    assert {server.get("/").text for _ in range(6)} == {"a", "b"}
    assert of(server, a)["probes"] == 0


def test_checks_want_their_status(start, checked):
    a, b = checked
    a.health = "302 Found\r\nLocation: /"
    b.health = "200 OK"
    server = start(extra=proxy(f"Match ^/\n{servers(checked)}\nHealthCheck /health 200ms 302\n{STATISTICS}"))
    assert eventually(lambda: (of(server, a)["state"], of(server, b)["state"]) == ("up", "offline"))
    assert {server.get("/").text for _ in range(4)} == {"a"}


def test_no_request_is_risked_where_checks_decide(start, checked):
    a, b = checked
    server = start(extra=proxy(f"Match ^/\n{servers(checked)}\nHealthCheck /health 30s\nOfflineTimeOut 500ms\n{STATISTICS}"))
    assert eventually(lambda: of(server, a)["checks"] == 1)
    a.stop()
    for _ in range(8):
        assert server.get("/").text == "b"
    a.start()
    time.sleep(0.8)
    for _ in range(8):
        assert server.get("/").text == "b"
    assert of(server, a)["state"] == "offline"


@pytest.mark.parametrize("reply", [
    pytest.param(lambda peer: peer.reset(), id="resets"),
    pytest.param(lambda peer: (peer.request(), time.sleep(3)), id="silent"),
    pytest.param(lambda peer: (peer.request(), peer.send(b"HTTP/1.1 200"), peer.close()), id="half_a_head"),
    pytest.param(lambda peer: (peer.request(), peer.send(b"SSH-2.0-OpenSSH_9\r\n"), peer.close()), id="garbage"),
    pytest.param(lambda peer: (peer.request(), peer.send(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000)), id="long_head"),
    pytest.param(lambda peer: (peer.request(), peer.send(b"HTTP/1.1 100 Continue\r\n\r\n" * 2000)), id="interim_flood"),
    pytest.param(lambda peer: (peer.request(), [(peer.send(b"H"), time.sleep(0.3)) for _ in range(12)]), id="drips"),
])
def test_checks_survive_odd_backends(start, reply):
    odd = Backend(name="odd", serve=reply)
    well = Backend(name="well")
    server = start(extra=proxy(f"Match ^/\n{servers([odd, well])}\nHealthCheck / 100ms\nReadTimeout 1\nAttemptsCount 1\n"
                               f"{STATISTICS}"))
    assert eventually(lambda: of(server, odd)["state"] == "offline")
    assert of(server, well)["state"] == "up"
    server.stop()
    odd.stop()
    well.stop()


def test_interim_answers_to_a_check_are_passed_over(start):
    kind = Backend(name="kind", serve=lambda peer: (peer.request(), peer.send(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 3),
                                               peer.answer(b"x")))
    server = start(extra=proxy(f"Match ^/\n{servers([kind])}\nHealthCheck / 100ms\n{STATISTICS}"))
    assert eventually(lambda: of(server, kind)["checks"] >= 3)
    assert of(server, kind)["failed_checks"] == 0
    server.stop()
    kind.stop()


def test_the_head_of_a_check_may_come_byte_by_byte(start):
    head = b"HTTP/1.1 103 Early Hints\r\n\r\n" * 2 + b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 300 + b"\r\nContent-Length: 0\r\n\r\n"

    def drip(peer):
        peer.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.request()
        for byte in head:
            peer.send(bytes([byte]))

    kind = Backend(name="kind", serve=drip)
    server = start(extra=proxy(f"Match ^/\n{servers([kind])}\nHealthCheck / 100ms\n{STATISTICS}"))
    assert eventually(lambda: of(server, kind)["checks"] >= 3)
    assert of(server, kind)["failed_checks"] == 0
    server.stop()
    kind.stop()


@pytest.mark.parametrize("version, first", [("v1", b"PROXY UNKNOWN\r\n"), ("v2", b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0")])
def test_checks_speak_the_proxy_protocol(start, version, first):
    seen = []

    def serve(peer):
        seen.append(peer.exactly(len(first)))
        seen.append(peer.request().target)
        peer.answer()

    backend = Backend(name="strict", serve=serve)
    server = start(extra=proxy(f"Match ^/\n{servers([backend])}\nHealthCheck /h 100ms\nProxyProtocol {version}\n{STATISTICS}"))
    assert eventually(lambda: of(server, backend)["checks"] >= 1)
    assert seen[:2] == [first, "/h"]
    server.stop()
    backend.stop()


# -- coming back


def test_slow_start(start, checked):
    a, b = checked
    server = start(extra=proxy(f"Match ^/\n{servers(checked)}\nHealthCheck /health 100ms\nSlowStart 20\n{STATISTICS}"))
    a.health = "500 Broken"
    assert eventually(lambda: of(server, a)["state"] == "offline")
    a.health = "200 OK"
    assert eventually(lambda: of(server, a)["state"] == "returning")
    got = collections.Counter(server.get("/").text for _ in range(100))
    assert 0 <= got["a"] < 30 and of(server, a)["share"] < 400
    b.health = "500 Broken"  # alone, it gets all in spite of its share
    assert eventually(lambda: of(server, b)["state"] == "offline")
    assert {server.get("/").text for _ in range(10)} == {"a"}


# -- reload


def test_a_reload_keeps_what_was_learnt(start, two):
    a, b = two
    lines = f"Match ^/\n{servers(two)}\nLoadBalancer First-Alive\nAttemptsCount 2\nOfflineTimeOut 60\n{STATISTICS}"
    server = start(extra=proxy(lines))
    a.stop()
    for _ in range(3):
        assert server.get("/").text == "b"
    before = facts(server)
    assert before[a.address]["state"] == "offline"
    # Another balancer, and another way of connecting: neither makes it a stranger.
    server.reload(extra=proxy(lines.replace("First-Alive", "LeastConnections") + "\nConnectTimeout 3"))
    after = facts(server)
    assert after[a.address]["state"] == "offline" and after[a.address]["failures"] == before[a.address]["failures"]
    assert after[b.address]["requests"] == before[b.address]["requests"]
    assert server.get("/").text == "b"
    # Another address is another backend.
    with backends(1) as other:
        server.reload(extra=proxy(lines.replace(a.address, other[0].address)))
        assert set(facts(server)) == {b.address, other[0].address}
        assert of(server, other[0])["requests"] == 0 and of(server, b)["requests"] >= before[b.address]["requests"]


def test_a_reload_ends_the_checks_of_before(start):
    """Even while requests of before go on: what they found would be held against a backend that is asked otherwise now."""
    asked = collections.Counter()
    release = threading.Event()

    def each(conn, request):
        asked[request.target] += 1
        if request.target == "/stream":
            conn.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
            release.wait(20)
        conn.answer(b"x", status="500 Broken" if request.target == "/before" and asked["/now"] else "200 OK")

    with Backend(each=each) as backend:
        lines = f"Match ^/\n{servers([backend])}\nOfflineTimeOut 60\nAttemptsCount 1\n{STATISTICS}\nHealthCheck "
        server = start(server="Workers 1", extra=proxy(lines + "/before 100ms"))
        with server.connect() as stream:
            stream.send(http.request("/stream"))
            assert stream.stream.some()
            assert eventually(lambda: asked["/before"] > 1)
            server.reload(extra=proxy(lines + "/now 100ms"))
            assert eventually(lambda: asked["/now"] > 1)
            before, now = asked["/before"], asked["/now"]
            assert eventually(lambda: asked["/now"] > now + 4)  # as many of the old checks would have come meanwhile
            assert asked["/before"] <= before + 1
            assert of(server, backend)["state"] == "up"
            release.set()


def test_a_refused_reload_keeps_the_checks(start, tmp_path):
    """Refused by a plugin that begins behind the proxy."""
    asked = collections.Counter()

    def each(conn, request):
        asked[request.target] += 1
        conn.answer(b"x")

    with Backend(each=each) as backend:
        lines = f"Match ^/\n{servers([backend])}\nHealthCheck "

        def configuration(check, log):
            extra = proxy(lines + check)
            extra["plugins.load"] += f"    Load {process.plugin('logger')}\n"
            return {"extra": extra, "site": f"[LOGGER]\n    AccessLog {tmp_path}/{log}\n"}

        server = start(**configuration("/before 100ms", "access.log"))
        assert eventually(lambda: asked["/before"] > 1)
        (tmp_path / "folder").mkdir()
        log = server.reload(**configuration("/now 100ms", "folder"))
        assert f"{tmp_path}/folder" in log, log
        before = asked["/before"]
        assert eventually(lambda: asked["/before"] > before + 3)
        assert not asked["/now"]


@pytest.mark.parametrize("transport", ["", "Transport liana"])
def test_kept_connections_survive_a_reload(start, two, transport):
    lines = f"Match ^/\n{servers(two)}\n{STATISTICS}\nKeepAliveTimeout 30\n{transport}"
    server = start(server="Workers 1", extra=proxy(lines))
    for _ in range(4):
        assert server.get("/").status == 200
    assert [backend.connections for backend in two] == [1, 1]
    server.reload(extra=proxy(lines + "\nOfflineTimeOut 5"))
    for _ in range(4):
        assert server.get("/").status == 200
    assert [backend.connections for backend in two] == [1, 1]


def test_reloads_under_load_with_failing_backends(start, two):
    lines = f"Match ^/\n{servers(two)}\nOfflineTimeOut 300ms\nHealthCheck / 100ms\n{STATISTICS}"
    server = start(extra=proxy(lines))
    stop, wrong = threading.Event(), []

    def ask():
        while not stop.is_set():
            with server.connect() as connection:
                for _ in range(10):
                    answer = connection.request("/")
                    if answer.status != 200:
                        wrong.append(answer.status)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for turn in range(6):
        two[turn % 2].stop()
        server.reload(extra=proxy(lines + f"\nConnectTimeout {1 + turn % 2}"))
        time.sleep(0.2)
        two[turn % 2].start()
        assert eventually(lambda turn=turn: of(server, two[turn % 2])["state"] == "up")
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
