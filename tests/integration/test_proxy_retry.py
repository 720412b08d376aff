# SPDX-License-Identifier: Apache-2.0
"""RetryOn: an answer of a backend that another one betters, where that harms nobody (RFC 9110 section 9.2.2)."""

import json
import threading

import pytest

from harness import http
from harness.backend import Backend, configured
from harness.client import eventually
from harness.h2_backend import H2Backend
from harness.h2_front import client, front, protocol  # noqa: F401

FIRST = "LoadBalancer First-Alive\nRetryOn 502 503 504\nStatisticsURL /stats\n"
REASONS = {500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout", 404: "Not Found"}


def sick(status=503, body=b"sick", fields="X-Sick: 1\r\n"):
    """A backend that says so to everybody."""
    return Backend(each=lambda conn, _: conn.answer(body, f"{status} {REASONS[status]}", fields))


def backends_of(server):
    entries = json.loads(server.get("/stats?format=json").text)["entries"]
    return entries[0]["backends"]


@pytest.mark.parametrize("status", [502, 503, 504])
def test_another_backend_answers_in_its_place(start, status):
    with sick(status) as bad, Backend() as good:
        server = start(**configured(FIRST, bad, good))
        answer = server.get("/a?b")
        assert (answer.status, answer.body, answer.header("X-Sick")) == (200, b"ok", None)
        assert [backend.requests[0].target for backend in (bad, good)] == ["/a?b"] * 2
        first, second = backends_of(server)
        assert first["answers_5xx"] == first["repeated"] == first["recent_failures"] == 1
        assert second["answers_2xx"] >= 1 and second["repeated"] == 0
        assert first["active"] == second["active"] == 0


@pytest.mark.parametrize("lines, status", [("RetryOn 502 504", 503), ("RetryOn off", 503), ("RetryOn 503", 500), ("RetryOn 503", 404)])
def test_other_statuses_are_answers(start, lines, status):
    with sick(status) as bad, Backend() as good:
        server = start(**configured(f"LoadBalancer First-Alive\n{lines}", bad, good))
        answer = server.get("/")
        assert (answer.status, answer.body, answer.header("X-Sick")) == (status, b"sick", "1")
        assert not good.requests


@pytest.mark.parametrize("method, asked", [("GET", 2), ("HEAD", 2), ("OPTIONS", 2), ("PUT", 2), ("DELETE", 2), ("TRACE", 2),
                                           ("POST", 1), ("PATCH", 1), ("LINK", 1)])
def test_methods_that_may_be_acted_on_twice(start, method, asked):
    """RFC 9110 section 9.2.2."""
    def each(conn, request):
        conn.answer(b"" if request.method == "HEAD" else b"ok")

    with Backend(each=lambda conn, q: conn.answer(b"" if q.method == "HEAD" else b"no", "503 No")) as bad, Backend(each=each) as good:
        server = start(**configured(FIRST, bad, good))
        assert server.request("/", method).status == (200 if asked == 2 else 503)
        assert len(bad.requests) + len(good.requests) == asked


@pytest.mark.parametrize("size, mode, status", [(0, "auto", 200), (5000, "auto", 200), (5000, "off", 200), (300_000, "on", 200),
                                                (300_000, "off", 503)])
def test_bodies_that_can_be_sent_again(start, size, mode, status):
    """300 KB that stream are not kept, so they cannot be."""
    body = bytes(range(250)) * (size // 250)
    with sick() as bad, Backend(each=lambda conn, q: conn.answer(q.body)) as good:
        server = start(**configured(f"{FIRST}RequestBuffering {mode}", bad, good))
        answer = server.request("/", "PUT", body=body)
        assert answer.status == status
        assert answer.body == (body if status == 200 else b"sick")


@pytest.mark.connection("a request that is still coming")
def test_while_the_client_still_uploads(start):
    """The answer comes before the end of the body: the next backend gets all of it."""
    def serve(conn):
        conn.head()
        conn.answer(b"sick", "503 No")
        conn.ended()

    with Backend(serve) as bad, Backend(each=lambda conn, q: conn.answer(q.body)) as good:
        server = start(**configured(f"{FIRST}RequestBuffering off", bad, good))
        with server.connect() as connection:
            connection.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345")
            assert eventually(lambda: good.connections == 1)
            connection.send("67890")
            assert connection.response().body == b"1234567890"


def test_no_more_backends_than_attempts(start):
    with sick() as one, sick(502, b"second") as two, Backend() as three:
        server = start(**configured(f"{FIRST}AttemptsCount 2", one, two, three))
        answer = server.get("/")
        assert (answer.status, answer.body) == (502, b"second")
        assert not three.requests


def test_the_only_backend_is_not_asked_again(start):
    with sick() as bad:
        server = start(**configured(FIRST, bad))
        assert [server.get("/").body for _ in range(5)] == [b"sick"] * 5
        assert len(bad.requests) == 5


@pytest.mark.parametrize("status, is_offline", [(503, True), (500, False)])
def test_it_counts_for_its_health(start, status, is_offline):
    with sick(status) as bad, Backend() as good:
        server = start(**configured(f"{FIRST}AttemptsCount 2\nOfflineTimeOut 60", bad, good))
        for _ in range(4):
            server.get("/")
        assert (backends_of(server)[0]["state"] == "offline") == is_offline
        assert len(bad.requests) == (2 if is_offline else 4)
        if is_offline:
            server.wait_for_log("proxy: backend offline .* why=status")


def test_a_post_counts_too(start):
    with sick() as bad, Backend() as good:
        server = start(**configured(f"{FIRST}AttemptsCount 1\nOfflineTimeOut 60", bad, good))
        assert server.request("/", "POST", body=b"x").status == 503
        assert server.request("/", "POST", body=b"x").status == 200
        assert not [q for q in good.requests if q.method == "GET"]


@pytest.mark.connection("an interim answer")
def test_nothing_is_repeated_after_an_interim_answer(start):
    """A client that has a hint of one backend gets the answer of that one."""
    def each(conn, _):
        conn.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n")
        conn.answer(b"sick", "503 No")

    with Backend(each=each) as bad, Backend() as good:
        server = start(**configured(FIRST, bad, good))
        with server.connect() as connection:
            connection.send(http.request("/"))
            answer = connection.response()
            assert answer.status == 503 and [interim.status for interim in answer.interim] == [103]
        assert not good.requests


def test_one_that_is_killed_in_the_middle_of_such_an_answer(start):
    def serve(conn):
        conn.request()
        conn.send(b"HTTP/1.1 503 No\r\nContent-Length: 100000\r\n\r\nhalf")
        conn.reset()

    with Backend(serve) as bad, Backend() as good:
        server = start(**configured(FIRST, bad, good))
        assert server.get("/").body == b"ok"


def test_an_answer_without_end_is_not_waited_for(start):
    over = threading.Event()

    def serve(conn):
        conn.request()
        conn.send(b"HTTP/1.1 503 No\r\n\r\nmore to come")
        conn.ended()
        over.set()

    with Backend(serve) as bad, Backend() as good:
        server = start(**configured(FIRST, bad, good))
        assert server.get("/").body == b"ok"
        assert over.wait(20)  # its connection is closed


def test_two_at_once_and_after_a_reload(start):
    with sick() as bad, Backend() as good:
        config = configured(f"{FIRST}OfflineTimeOut 0", bad, good)
        server = start(**config)
        with server.connect() as one, server.connect() as two:
            for connection in (one, two):
                connection.send(http.request("/"))
            assert [connection.response().body for connection in (one, two)] == [b"ok"] * 2
            server.reload(**config)
            for connection in (one, two):
                connection.send(http.request("/"))
            assert [connection.response().body for connection in (one, two)] == [b"ok"] * 2


def test_backends_and_clients_of_http2(start, protocol):  # noqa: F811
    def bad(peer, request):
        peer.answer(request.stream, b"sick", status=503)

    with H2Backend(each=bad) as one, H2Backend(each=lambda peer, request: peer.answer(request.stream, b"ok")) as two:
        server = start(**front(FIRST + "OfflineTimeOut 0", one, two))
        with client(server, protocol) as connection:
            for _ in range(3):
                answer = connection.request("/")
                assert (answer.status, answer.body) == (200, b"ok")
