# SPDX-License-Identifier: Apache-2.0
"""What a backend sends unasked over a kept connection is nobody's answer, and costs it its kept connections."""

import collections
import threading
import time

import pytest

from harness import fastcgi, http
from harness.backend import Backend, proxy, servers
from harness.client import eventually

ASKED = 40
PAUSE = 0.03  # of a client, in which what is unasked comes
POISON = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
LOG = "unasked bytes from a backend"


def serve(start, backend, more=""):
    return start(server="Workers 1", extra=proxy(f"Match ^/\n{servers([backend])}\nKeepAliveTimeout 30\n{more}"))


@pytest.mark.parametrize("delay", [0, 0.0003, 0.005])
def test_a_body_behind_head(start, delay):
    def each(conn, request):
        if request.method != "HEAD":
            return conn.answer(b"good")
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(POISON))
        time.sleep(delay)
        return conn.send(POISON)

    with Backend(each=each) as backend:
        server = serve(start, backend)
        got = collections.Counter()
        with server.connect() as one, server.connect() as two:
            for _ in range(ASKED):
                one.send(http.request("/", "HEAD"))
                assert one.response("HEAD").status == 200
                got[two.request("/").text] += 1
        assert got == {"good": ASKED}


@pytest.mark.parametrize("head, body", [
    pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", b"good", id="length"),
    pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"4\r\ngood\r\n0\r\n\r\n", id="chunked"),
    pytest.param(b"HTTP/1.1 304 Not Modified\r\n\r\n", b"", id="304"),
])
@pytest.mark.parametrize("delay", [None, 0, 0.002])
def test_more_than_was_promised(start, head, body, delay):
    """What comes when the next request is on its way already is its answer, for all that anybody can know."""
    def each(conn, request):
        conn.send(head + body + (POISON if delay is None else b""))
        if delay is not None:
            time.sleep(delay)
            conn.send(POISON)

    with Backend(each=each) as backend:
        server = serve(start, backend)
        got = collections.Counter()
        with server.connect() as client:
            for _ in range(ASKED):
                got[client.request("/").text] += 1
                time.sleep(PAUSE)
        assert got["poison"] <= (0 if delay is None else 2), got  # none, unless the machine is slow
        server.wait_for_log(LOG)
        assert backend.connections > ASKED / 2
        assert backend.requests[-1].header("Connection") == "close"
        assert sum(LOG in line for line in server.log().splitlines()) == 1


def test_what_comes_while_it_is_idle(start):
    conns = []

    def each(conn, request):
        conns.append(conn)
        conn.answer(b"good")

    with Backend(each=each) as backend:
        server = serve(start, backend)
        assert server.get("/").text == "good"
        conns[0].send(POISON)
        server.wait_for_log(LOG)
        for _ in range(3):
            assert server.get("/").text == "good"
        assert backend.connections == 4
        # A reload is a new chance.
        server.reload(extra=proxy(f"Match ^/\n{servers([backend])}\nKeepAliveTimeout 31"))
        for _ in range(3):
            assert server.get("/").text == "good"
        assert backend.connections == 5


def test_one_that_only_closes_keeps_its_connections(start):
    conns = []

    def each(conn, request):
        conns.append(conn)
        conn.answer(b"good")

    with Backend(each=each) as backend:
        server = serve(start, backend)
        for _ in range(3):
            assert server.get("/").text == "good"
            conns[-1].close()
            time.sleep(0.05)
        for _ in range(3):
            assert server.get("/").text == "good"
        assert backend.connections == 4
        assert LOG not in server.log()


@pytest.mark.parametrize("delay", [None, 0, 0.002])
def test_fastcgi(start, delay):
    """A record behind END_REQUEST."""
    good = fastcgi.record(fastcgi.STDOUT, b"Content-Type: text/plain\r\n\r\ngood") + fastcgi.end_record()
    poison = fastcgi.record(fastcgi.STDOUT, b"Content-Type: text/plain\r\n\r\npoison") + fastcgi.end_record()
    lock = threading.Lock()

    def answer(call):
        call.body()
        call.ended = True
        with lock:
            call.raw(good + (poison if delay is None else b""))
            if delay is not None:
                time.sleep(delay)
                call.raw(poison)

    with fastcgi.Application(answer) as application:
        server = start(server="Workers 1", **fastcgi.config(application, location="Mount /\nKeepAlive on"))
        got = collections.Counter()
        with server.connect() as client:
            for _ in range(ASKED):
                got[client.request("/").text] += 1
                time.sleep(PAUSE)
        assert got["poison"] <= (0 if delay is None else 2), got  # none, unless the machine is slow
        server.wait_for_log(LOG)
        assert eventually(lambda: application.accepted > ASKED / 2)
