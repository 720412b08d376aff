# SPDX-License-Identifier: Apache-2.0
"""Connections to backends that speak HTTP/2: how calls share them, and how they are replaced."""

import contextlib
import itertools
import signal
import socket
import threading
import time

import pytest

from harness import http
from harness.backend import Backend, configured
from harness.client import PATIENCE, eventually, free_port
from harness.content import noise
from harness.h2_backend import H2Backend, Orderly, at_once, settings
from harness.h2_front import ONE, client, frames, front, protocol  # noqa: F401
from harness.http2 import CANCEL, DATA, NO_ERROR, PING, REFUSED_STREAM, SETTINGS, frame

BIG = noise(300_000)


# ---- few streams, many requests ----

@pytest.mark.parametrize("entry, connections", [("MaxConnections 1\nQueueTimeout 20s", 1), ("", 20)])
def test_a_stream_at_a_time(start, protocol, entry, connections):
    """MAX_CONCURRENT_STREAMS 1 (RFC 9113 section 5.1.2): each request is answered, in its turn."""
    most = [0]

    def each(peer, request):
        most[0] = max(most[0], sum(1 for q in peer.requests.values() if not hasattr(q, "was_answered")))
        request.was_answered = True
        time.sleep(0.01)
        peer.answer(request.stream, request.path.encode())

    with H2Backend(each=each, payload=settings(MAX_CONCURRENT_STREAMS=1)) as backend:
        server = start(**front(entry, backend))
        assert server.request("/first").body == b"/first"

        def ask(n):
            with client(server, protocol) as c:
                return c.request(f"/{n}").body

        with at_once(*(lambda n=n: ask(n) for n in range(20))) as answers:
            pass
        assert answers == [b"/%d" % n for n in range(20)]
        assert most[0] == 1 and backend.connections <= connections


def test_a_burst_before_the_settings(start):
    """A backend that takes two streams refuses others (RFC 9113 section 5.1.2): calls wait until it has said so, and none is refused."""
    def serve(peer):
        time.sleep(0.05)
        answered = set()
        while request := peer.request():
            active = [q for q in peer.requests.values() if q.stream not in answered]
            if len(active) > 2:
                peer.reset_stream(request.stream, REFUSED_STREAM)
                backend.refused += 1
            else:
                peer.answer(request.stream, b"ok")
            answered.add(request.stream)

    with H2Backend(serve, payload=settings(MAX_CONCURRENT_STREAMS=2)) as backend:
        backend.refused = 0
        server = start(**front("MaxConnections 3\nQueueTimeout 20s", backend))
        with at_once(*[lambda: server.request("/").status] * 40) as statuses:
            pass
        assert set(statuses) == {200} and backend.refused == 0


def test_a_queue_that_is_full(start):
    """QueueLength counts calls that wait for a stream, beside one for which a connection is to be made."""
    def serve(peer):
        peer.until_true(lambda: peer.requests)
        assert eventually(lambda: backend.is_open)
        peer.answer(1, b"ok")
        while request := peer.request():
            if request.stream > 1:
                peer.answer(request.stream, b"ok")

    with H2Backend(serve, payload=settings(MAX_CONCURRENT_STREAMS=1)) as backend:
        backend.is_open = False
        server = start(**front("MaxConnections 1\nQueueLength 2\nQueueTimeout 20s\nOfflineTimeOut 0", backend))
        with at_once(lambda: server.request("/").status) as first:
            assert eventually(lambda: backend.peers and backend.peers[0].requests)
            with at_once(*[lambda: server.request("/").status] * 8) as statuses:
                assert eventually(lambda: statuses.count(503) == 5)
                backend.is_open = True
        assert first == [200] and sorted(statuses) == [200] * 3 + [503] * 5


def test_a_connection_has_room_for_more_than_one_call(start):
    """Two calls of a client go to its backend, though the only connection to that one is in use."""
    with patient(calls=2) as first, patient(calls=2) as second:
        server = start(**front("LoadBalancer Naive\nMaxConnections 1", first, second))
        with frames(server) as one:
            one.send(one.head(1, "/"), one.head(3, "/"))
            assert eventually(lambda: sorted([len(first.requests), len(second.requests)]) == [0, 2])
            first.may_answer = second.may_answer = True
            assert one.answer(3) == (200, b"late")


# ---- GOAWAY, REFUSED_STREAM ----

@pytest.mark.parametrize("method", ["GET", "POST"])
def test_goaway_between_streams(start, method):
    """Streams up to its number are answered; the others are sent again, once, over a new connection (RFC 9113 section 6.8)."""
    def serve(peer):
        if backend.connections > 1:
            while request := peer.request():
                backend.requests.append(request)
                peer.answer(request.stream, b"new " + request.body)
            return
        peer.until_true(lambda: sum(q.is_whole for q in peer.requests.values()) == 4)
        peer.goaway(3)
        time.sleep(0.1)
        for stream in (1, 3):
            peer.answer(stream, b"old " + peer.requests[stream].body)
        peer.drain()
        backend.ended = True

    with H2Backend(serve) as backend:
        backend.ended = False
        server = start(**front("", backend))

        def ask(n):
            return server.request("/", method, body=b"%d" % n if method == "POST" else b"").body

        with at_once(*[lambda n=n: ask(n) for n in range(4)]) as answers:
            pass
        assert sorted(a.split()[0] for a in answers) == [b"new", b"new", b"old", b"old"]
        if method == "POST":
            assert [a.split()[1] for a in answers] == [b"0", b"1", b"2", b"3"]
        assert len(backend.requests) == 2 and backend.connections == 2
        assert eventually(lambda: backend.ended)
        assert server.request("/").body == b"new "


def test_goaway_twice(start):
    """The one that gives notice names the largest number (RFC 9113 section 6.8)."""
    def serve(peer):
        if backend.connections > 1:
            peer.answer(peer.request().stream, b"new")
            peer.drain()
            return
        request = peer.request()
        peer.goaway(0x7fffffff)
        with at_once(lambda: server.request("/").body) as others:
            time.sleep(0.05)
            peer.goaway(1)
            peer.answer(request.stream, b"old")
            peer.drain()
        backend.others = others

    with H2Backend(serve) as backend:
        server = start(**front("", backend))
        assert server.request("/").body == b"old"
        assert eventually(lambda: getattr(backend, "others", None)) == [b"new"]


def test_goaway_with_an_error(start):
    """Each answer that is not whole is an error, and nothing else fails (RFC 9113 section 5.4.1)."""
    def serve(peer):
        peer.request()
        peer.goaway(1, 2)

    with H2Backend(serve) as backend:
        server = start(**front("OfflineTimeOut 0", backend))
        assert server.request("/", "POST", body=b"x").status == 502
        assert backend.connections == 1


def test_a_refused_stream_is_sent_again(start, protocol):
    """REFUSED_STREAM, for whatever method (RFC 9113 section 8.7)."""
    def serve(peer):
        for _ in range(3):
            peer.reset_stream(peer.request().stream, REFUSED_STREAM)
        request = peer.request()
        peer.answer(request.stream, request.body)
        peer.drain()

    with H2Backend(serve) as backend:
        server = start(**front("", backend))
        with client(server, protocol) as c:
            answer = c.request("/", "POST", body=b"body")
            assert (answer.status, answer.body) == (200, b"body")


def test_refused_again_and_again(start, protocol):
    """Four times are enough."""
    def serve(peer):
        while request := peer.request():
            backend.requests.append(request)
            peer.reset_stream(request.stream, REFUSED_STREAM)

    with H2Backend(serve) as backend:
        server = start(**front("", backend))
        with client(server, protocol) as c:
            assert c.request("/", "POST", body=b"body").status in (502, 503)
            assert len(backend.requests) == 4


def test_refused_and_another_backend(start):
    def serve(peer):
        while request := peer.request():
            peer.reset_stream(request.stream, REFUSED_STREAM)

    with H2Backend(serve) as refusing, H2Backend(name="b") as other:
        server = start(**front("LoadBalancer First-Alive", refusing, other))
        assert server.request("/", "POST", body=b"x").body == b"b"


def test_a_large_body_is_not_sent_again(start):
    """What was not kept cannot be."""
    def serve(peer):
        request = peer.request(whole=False)
        peer.until_true(lambda: len(request.body) > 200_000)
        peer.reset_stream(request.stream, REFUSED_STREAM)
        peer.drain()

    with H2Backend(serve) as backend:
        server = start(**front("RequestBuffering off", backend))
        with server.connect() as c:
            with contextlib.suppress(OSError):
                c.send(http.request("/", "POST", body=noise(3 << 20)))
            assert b"502" in c.rest_until_cut()[:20]
        assert server.is_running()


# ---- connections that end ----

@pytest.mark.parametrize("how", ["close", "reset", "goaway"])
def test_a_connection_that_ends_while_idle(start, protocol, how):
    ended = threading.Semaphore(0)

    def serve(peer):
        peer.answer(peer.request().stream)
        if how == "reset":
            peer.reset()
        elif how == "goaway":
            peer.goaway(1)
        else:
            peer.sock.shutdown(socket.SHUT_RDWR)
        ended.release()

    with H2Backend(serve) as backend:
        server = start(**front("", backend))
        with client(server, protocol) as c:
            for _ in range(5):
                assert c.request("/", "POST", body=b"x").status == 200
                assert ended.acquire(timeout=PATIENCE)
                c.request("*", "OPTIONS")  # the worker sees the end before this
        assert backend.connections == 5


def test_an_idle_connection_is_closed(start):
    """With a GOAWAY (RFC 9113 section 9.1)."""
    with H2Backend() as backend:
        server = start(**front("KeepAliveTimeout 1s", backend))
        assert server.request("/").status == 200
        assert eventually(lambda: backend.peers[0].goodbye) and backend.peers[0].goodbye.code == NO_ERROR
        assert server.request("/").status == 200 and backend.connections == 2


def test_a_backend_restarts(start, protocol):
    with Orderly() as backend:
        server = start(**front("OfflineTimeOut 0", backend))
        with client(server, protocol) as c:
            assert c.request("/").status == 200
            for _ in range(3):
                backend.stop()
                assert c.request("/").status == 502
                backend.start()
                assert c.request("/").status == 200


@pytest.mark.parametrize("method, status", [("GET", 200), ("POST", 502)])
def test_a_backend_that_dies_with_a_request(start, method, status):
    """What it may have acted on is not sent again, unless that harms nobody (RFC 9110 section 9.2.2)."""
    def serve(peer):
        peer.request()
        peer.reset()

    with H2Backend(serve) as dying, H2Backend(name="b") as other:
        server = start(**front("LoadBalancer First-Alive\nOfflineTimeOut 0", dying, other))
        assert server.request("/", method, body=b"x" if method == "POST" else b"").status == status
        assert len(other.requests) == (status == 200)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("code", [2, 8, 11])
def test_a_stream_that_is_reset(start, code, method):
    """The request failed, its connection did not; it is not asked again, as for a connection that was closed while idle."""
    def serve(peer):
        peer.answer(peer.request().stream)
        peer.reset_stream(peer.request().stream, code)
        peer.answer(peer.request().stream, b"next")
        peer.drain()

    with H2Backend(serve) as backend:
        server = start(**front("OfflineTimeOut 0", backend))
        assert server.request("/").status == 200
        assert server.request("/", method, body=b"x" if method == "POST" else b"").status == 502
        assert server.request("/").body == b"next"
        assert backend.connections == 1


def test_a_stream_that_is_reset_in_its_answer(start):
    """The answer is plainly cut, the connection goes on."""
    def serve(peer):
        request = peer.request()
        peer.send(peer.reply(request.stream), frame(DATA, 0, request.stream, b"half"))
        time.sleep(0.05)
        peer.reset_stream(request.stream, 2)
        peer.answer(peer.request().stream, b"next")
        peer.drain()

    with H2Backend(serve) as backend:
        server = start(**front("OfflineTimeOut 0", backend))
        assert http.is_cut_off(server.raw_until_cut(http.request("/")))
        assert server.request("/").body == b"next"
        assert backend.connections == 1


def test_a_head_that_breaks_off_is_no_end_of_a_body(start, protocol):
    """The connection ends with neither END_STREAM nor a length."""
    def serve(peer):
        request = peer.request()
        peer.send(peer.reply(request.stream), frame(DATA, 0, request.stream, b"half"))

    with H2Backend(serve) as backend:
        server = start(**front("OfflineTimeOut 0", backend))
        if protocol == "h1":
            assert http.is_cut_off(server.raw_until_cut(http.request("/")))
        else:
            with frames(server) as c:
                c.send(c.head(1))
                assert not isinstance(c.answer(1), tuple)


# ---- backends that are silent ----

def test_a_silent_backend(start, protocol):
    """504, RST_STREAM with CANCEL, and a PING: a connection that answers it goes on (RFC 9113 section 6.7)."""
    def serve(peer):
        peer.request()
        assert peer.until_true(lambda: peer.resets and any(f.kind == PING for f in peer.seen))
        while request := peer.request():
            peer.answer(request.stream, b"next")

    with H2Backend(serve) as backend:
        server = start(**front("ReadTimeout 200ms\nOfflineTimeOut 0", backend))
        with client(server, protocol) as c:
            assert c.request("/").status == 504
        assert eventually(lambda: backend.peers[0].resets) == {1: CANCEL}
        time.sleep(0.1)
        assert server.request("/").body == b"next"
        assert backend.connections == 1


@pytest.mark.slow
@pytest.mark.timed
def test_a_dead_backend(start):
    """Without an answer to PING its other calls fail after five seconds; new calls use another connection at once."""
    def serve(peer):
        if backend.connections == 1:
            peer.acknowledges = False
            peer.until_true(lambda: peer.goodbye)
            backend.ended = time.monotonic()
        else:
            while request := peer.request():
                peer.answer(request.stream, b"new")

    with H2Backend(serve) as backend:
        backend.ended = None
        server = start(**front("ReadTimeout 1s\nOfflineTimeOut 0\nAttemptsCount 1", backend))
        with frames(server) as other:
            other.send(other.head(1, "/up", "POST", fields=[("content-length", "10")], end=False))
            assert server.request("/").status == 504
            began = time.monotonic()
            assert server.request("/").body == b"new"
            assert time.monotonic() - began < 1
            assert eventually(lambda: backend.ended) and 4 < backend.ended - began < 7


def test_a_backend_of_http1(start, protocol):
    """It does not understand the preface (RFC 9113 section 3.4): 502 at once."""
    def serve(conn):
        conn.more()
        conn.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    with Backend(serve) as backend:
        server = start(**front("ReadTimeout 20s\nOfflineTimeOut 0", backend))
        with client(server, protocol) as c:
            assert c.request("/").status == 502  # and not 504
        server.wait_for_log("proxy (backend )?failed")


def test_a_backend_that_closes_at_once(start):
    with Backend(lambda conn: None) as backend:
        server = start(**front("OfflineTimeOut 0", backend))
        assert server.request("/", "POST", body=b"x").status == 502
        assert backend.connections <= 4


def test_a_backend_that_takes_no_stream(start):
    """MAX_CONCURRENT_STREAMS 0 (RFC 9113 section 5.1.2): a request is not sent from one new connection to the next."""
    def each(peer, request):  # of a client that had not read the settings
        peer.reset_stream(request.stream, REFUSED_STREAM)

    with H2Backend(each=each, payload=settings(MAX_CONCURRENT_STREAMS=0)) as backend:
        server = start(**front("OfflineTimeOut 0\nReadTimeout 5s", backend))
        for _ in range(10):
            before = backend.connections
            assert server.request("/", "POST", body=b"x").status in (502, 503, 504)
            assert backend.connections - before <= 8


def test_a_backend_that_greets_and_closes(start):
    with Backend(lambda conn: conn.send(frame(SETTINGS))) as backend:
        server = start(**front("OfflineTimeOut 0", backend))
        for _ in range(10):
            before = backend.connections
            assert server.request("/", "POST", body=b"x").status == 502
            assert backend.connections - before <= 8, "three tries, and three of each that was not looked at"


# ---- several backends, workers, reloads, the end ----

def test_one_backend_refuses_connections(start):
    with H2Backend() as backend:
        server = start(**front("AttemptsCount 1", f"127.0.0.1:{free_port()}", backend))
        for _ in range(4):
            assert server.request("/", "POST", body=b"x").body == b"ok"
        assert len(backend.requests) == 4


@pytest.mark.parametrize("balancer", ["Naive", "First-Alive", "RoundRobin", "LeastConnections", "SourceHash", "Random2", "ConsistentHash"])
def test_balancers(start, balancer):
    with H2Backend() as a, H2Backend() as b:
        server = start(**front(f"LoadBalancer {balancer}\nOfflineTimeOut 0", a, b))
        for _ in range(8):
            assert server.request("/").status == 200
        assert len(a.requests) + len(b.requests) == 8
        if balancer == "RoundRobin":
            assert len(a.requests) == 4
        a.stop()
        assert server.request("/").status == 200


def test_two_workers(start):
    """Each has its own connections."""
    with Orderly() as backend:
        server = start(**front("", backend, server="Workers 2\n"))
        with at_once(*[lambda: [server.request("/", "POST", body=b"%d" % n).body for n in range(10)]] * 8) as answers:
            pass
        assert answers == [[b"%d" % n for n in range(10)]] * 8
        assert len(backend.requests) == 80 and backend.connections <= 16


def waiting(backend, calls):
    """serve for a backend that takes so many calls, and answers when it is told to."""
    def serve(peer):
        while requests := list(itertools.islice(iter(peer.request, None), calls)):
            with backend.lock:
                backend.requests += requests
            assert eventually(lambda: backend.may_answer)
            for request in requests:
                peer.answer(request.stream, b"late")
    return serve


@contextlib.contextmanager
def patient(calls=1):
    backend = H2Backend(lambda peer: waiting(backend, calls)(peer))
    backend.may_answer = False
    with backend:
        yield backend


@pytest.mark.parametrize("workers", [1, 2])
def test_a_reload_while_a_call_is_under_way(start, protocol, workers):
    with patient() as backend:
        said = front("OfflineTimeOut 0", backend, server=f"Workers {workers}\n")
        server = start(**said)
        with client(server, protocol) as c:
            with at_once(lambda: c.request("/").body) as answers:
                assert backend.has(1)
                server.reload(**said)
                backend.may_answer = True
            assert answers == [b"late"]
            for _ in range(3):
                server.reload(**said)
                assert server.request("/").body == b"late"
        server.reload()
        assert server.request("/").body == b"late"


def test_a_reload_to_other_protocols(start):
    with H2Backend() as new, Backend() as old:
        server = start(**configured("", old, server="Listen 127.0.0.1:0"))
        assert server.request("/").body == b"ok"
        server.reload(**configured("", new.place, server="Listen 127.0.0.1:0"))
        assert server.request("/").body == b"ok"
        server.reload(**configured("", old, server="Listen 127.0.0.1:0"))
        assert server.request("/").body == b"ok"
        assert len(old.requests) == 2 and len(new.requests) == 1


def test_the_server_stops_while_calls_are_under_way(start):
    """They are answered before it exits."""
    with patient(calls=3) as backend:
        server = start(**front("", backend, server="Workers 1\n"))
        with at_once(*[lambda: server.request("/").body] * 3) as answers:
            assert backend.has(3)
            server.signal(signal.SIGTERM)
            time.sleep(0.1)
            backend.may_answer = True
        assert answers == [b"late"] * 3
        server.expect_exit()
        assert eventually(lambda: backend.peers[0].sock.fileno() < 0)


def test_a_health_check(start):
    """Over HTTP/2 as well: a backend goes bad and is good again."""
    health = [200]

    def respond(q):
        return (health[0] if q.path == "/health" else 200, [], b"a", [])

    with Orderly(respond) as backend, H2Backend(name="b") as other:
        server = start(**front("LoadBalancer First-Alive\nHealthCheck /health 100ms", backend, other))
        assert server.request("/").body == b"a"
        for status, name in [(500, b"b"), (200, b"a"), (404, b"b"), (204, b"a")]:
            health[0] = status
            assert eventually(lambda name=name: server.request("/").body == name)
        checks = [q for q in backend.requests if q.path == "/health"]
        assert checks[0].get(":authority") == backend.address and checks[0].get("user-agent") == "Monkey health check"
        assert backend.connections <= 3


def test_a_health_check_and_a_restart(start):
    with H2Backend() as backend:
        server = start(**front("HealthCheck /health 100ms\nOfflineTimeOut 60", backend))
        assert eventually(lambda: any(q.path == "/health" for q in backend.requests))
        backend.stop()
        assert eventually(lambda: server.request("/").status in (502, 503))
        backend.start()
        assert eventually(lambda: server.request("/").status == 200)


@pytest.mark.parametrize("how", ["silent", "refused", "reset", "goaway"])
def test_a_health_check_that_is_not_answered(start, how):
    def serve(peer):
        while request := peer.request():
            if request.path != "/health":
                peer.answer(request.stream)
            elif how == "goaway":
                peer.goaway(0)
            elif how != "silent":
                peer.reset_stream(request.stream, REFUSED_STREAM if how == "refused" else 2)

    with H2Backend(serve) as backend, H2Backend(name="b") as other:
        server = start(**front("LoadBalancer First-Alive\nHealthCheck /health 100ms\nReadTimeout 300ms", backend, other))
        assert eventually(lambda: server.request("/").body == b"b")


def test_reloads_with_health_checks(start):
    with Orderly() as backend:
        said = front("HealthCheck /health 100ms", backend)
        server = start(**said)
        for _ in range(5):
            seen = len(backend.requests)
            assert eventually(lambda seen=seen: len(backend.requests) > seen)
            server.reload(**said)
        assert server.request("/").status == 200


# ---- many at a time ----

def test_a_crowd_with_bodies(start):
    """Bodies of many sizes, each way, of a connection whose clients have different speeds."""
    with Orderly(first={"INITIAL_WINDOW_SIZE": 70_000, "MAX_CONCURRENT_STREAMS": 7}) as backend:
        server = start(**front("", backend, server="Workers 2\n"))

        def converse(seed):
            for n in range(5):
                body = BIG[seed * 100:seed * 100 + n * n * 3000 + seed]
                answer = server.request(f"/{seed}", "POST", body=body)
                assert answer.status == 200 and answer.body == body, (seed, n, answer.status)
            return True

        with at_once(*[lambda seed=seed: converse(seed) for seed in range(1, 17)]) as done:
            pass
        assert done == [True] * 16


def test_clients_that_leave_at_any_time(start):
    """Calls that are cancelled in every state leave room for others."""
    def each(peer, request):
        time.sleep(0.002)
        peer.answer(request.stream, b"x" * 1000)

    with H2Backend(each=each, payload=settings(MAX_CONCURRENT_STREAMS=3)) as backend:
        server = start(**front("MaxConnections 2\nQueueTimeout 20s", backend))
        for n in range(60):
            with server.connect() as c:
                c.send(http.request("/", "POST", body=b"x" * 100))
                time.sleep(n % 7 * 0.001)
        with at_once(*[lambda: server.request("/").status] * 10) as statuses:
            pass
        assert statuses == [200] * 10
        assert backend.connections < 10, "far from one a client"


def test_streams_of_a_connection_have_one_window_each(start):
    """A client that reads nothing takes only its own (RFC 9113 section 5.2.2): others go on over the same connection."""
    big = noise(1 << 20)
    with Orderly(lambda q: (200, [], bytes(8 << 20) if q.path == "/slow" else big, [])) as backend:
        server = start(**front("MaxConnections 1", backend))
        with contextlib.ExitStack() as stack:
            for _ in range(10):
                slow = stack.enter_context(server.connect(receive_buffer=4096))
                slow.send(http.request("/slow"))
            assert eventually(lambda: len(backend.requests) == 10)
            for _ in range(3):
                assert server.request("/").body == big
        assert backend.connections == 1


def test_uploads_of_a_connection_have_one_window_each(start):
    """A stream whose backend reads nothing holds up no other one."""
    def serve(peer):
        peer.open(0, 1 << 24)
        peer.opens = False
        while request := peer.request():
            peer.answer(request.stream, b"%d" % len(request.body))

    with H2Backend(serve) as backend:
        server = start(**front("RequestBuffering off\nMaxConnections 1\nSendTimeout 20s", backend))
        with server.connect() as stuck:
            stuck.send(http.request("/", "POST", body=b"x" * 100_000)[:90_000])
            assert eventually(lambda: backend.peers and backend.peers[0].requests)
            for size in (1, 1000, 60_000):
                assert server.request("/", "POST", body=b"x" * size).body == b"%d" % size
        assert backend.connections == 1


def test_a_client_that_sends_slowly(start):
    """Without buffering, each piece goes on at once, and the connection is free for others."""
    def serve(peer):
        while request := peer.request():
            peer.answer(request.stream, request.body)

    with H2Backend(serve) as backend:
        server = start(**front("RequestBuffering off", backend))
        with server.connect() as slow:
            slow.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            for n in range(5):
                slow.send(http.chunk(b"%d" % n))
                assert eventually(lambda n=n: backend.peers and backend.peers[0].requests) and server.request("/").status == 200
                assert eventually(lambda n=n: backend.peers[0].requests[1].body == b"01234"[:n + 1])
            slow.send(http.chunk(b""))
            assert slow.response("POST").body == b"01234"
        assert backend.connections == 1


def test_a_client_that_breaks_off_its_body(start):
    """The backend sees no whole request (RFC 9113 section 8.1.1): RST_STREAM, not END_STREAM."""
    with H2Backend() as backend:
        server = start(**front("RequestBuffering off", backend))
        for text in ("Content-Length: 10\r\n\r\n12345", "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n",
                     "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\nx\r\n"):
            with server.connect() as c:
                c.send("POST / HTTP/1.1\r\nHost: a\r\n" + text)
                assert eventually(lambda: backend.peers)
                time.sleep(0.05)
                c.finish_sending()
                c.rest_until_cut()
        assert server.request("/").body == b"ok"
        assert len(backend.requests) == 1 and backend.connections == 1
        assert len(backend.peers[0].resets) >= 2 and set(backend.peers[0].resets.values()) == {CANCEL}


def test_a_large_head_each_way(start):
    """In CONTINUATION frames (RFC 9113 section 6.10)."""
    many = [(f"x-{n}", "y" * 400) for n in range(60)]

    def respond(q):
        return 200, [field for field in q.fields if field[0].startswith("x-") and not field[0].startswith("x-f")], b"ok", []

    with Orderly(respond) as backend:
        server = start(**front("MaxAnswerHead 64K", backend, server=f"{ONE}MaxRequestSize 64K\n"))
        answer = server.request("/", headers=many)
        assert answer.status == 200 and [f for f in answer.fields if f[0].startswith("x-")] == many
        assert backend.connections == 1


def test_an_answer_above_max_answer_head(start):
    with Orderly(lambda q: (200, [(f"x-{n}", "y" * 100) for n in range(100)] if q.path == "/big" else [], b"ok", [])) as backend:
        server = start(**front("MaxAnswerHead 4K", backend))
        assert server.request("/big").status == 502
        assert server.request("/").body == b"ok"
        assert backend.connections == 1


def test_a_table_that_shrinks(start):
    """HEADER_TABLE_SIZE 0, and then more (RFC 7541 section 4.2)."""
    def serve(peer):
        for size in (0, 4096, 100, 65536, 0):
            request = peer.request()
            assert request.get("x-a") == "b" * 50
            peer.send(frame(SETTINGS, 0, 0, settings(HEADER_TABLE_SIZE=size)))
            peer.decoder.max_allowed_table_size = max(size, 4096)
            peer.answer(request.stream)
        peer.drain()

    with H2Backend(serve) as backend:
        server = start(**front("", backend))
        for _ in range(5):
            assert server.request("/", headers={"X-A": "b" * 50}).status == 200
        assert backend.connections == 1


def test_streams_that_end_a_connections_numbers(start):
    """Many requests, one connection (RFC 9113 section 5.1.1)."""
    with H2Backend() as backend:
        server = start(**front("", backend))
        with server.connect() as c:
            for _ in range(500):
                assert c.request("/").status == 200
        assert backend.connections == 1 and max(backend.peers[0].requests) == 999
