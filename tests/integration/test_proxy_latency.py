# SPDX-License-Identifier: Apache-2.0
"""A request that has the server to itself does not wait: for no tick of a clock, no acknowledgement, no other worker."""

import socket
import time

import pytest

from harness import http, process
from harness.backend import Backend, configured

pytestmark = pytest.mark.timed

REQUESTS = 60
# Nagle waits 40 ms for an acknowledgement, a timer of ours 100 ms. A busy machine makes many wait, but not all.
MOST = 0.004 * (10 if process.is_sanitized() else 1)


def quick_ones(ask):
    """Seconds that a quarter of the requests stay below."""
    taken = []
    for _ in range(REQUESTS):
        began = time.perf_counter()
        ask()
        taken.append(time.perf_counter() - began)
    return sorted(taken)[REQUESTS // 4]


def in_two_pieces(conn, _):
    conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
    conn.send(b"ok")


def in_chunks(conn, _):
    conn.chunked(b"o", b"k")


def at_once(conn, _):
    conn.answer(b"ok")


@pytest.fixture(params=["Workers 1", "Workers 2\nScheduler Fair", "Workers 2\nScheduler ReusePort"])
def workers(request):
    return request.param


@pytest.mark.parametrize("each", [at_once, in_two_pieces, in_chunks])
def test_a_connection_for_each_request(start, workers, each):
    def ask():
        with server.connect() as client:
            client.send(http.request("/", headers={"Connection": "close"}))
            assert http.parse_one(client.rest()).body == b"ok"

    with Backend(each=each) as one, Backend(each=each) as two, Backend(each=each) as three:
        server = start(server=workers, **configured("", one, two, three))
        assert quick_ones(ask) < MOST


@pytest.mark.parametrize("keep", ["KeepAlive 8", "KeepAlive 0"])
def test_a_kept_connection(start, workers, keep):
    with Backend(each=in_two_pieces) as backend:
        server = start(server=workers, **configured(keep, backend))
        with server.connect() as client:
            assert quick_ones(lambda: client.request("/")) < MOST


def test_a_body_behind_its_head(start, workers):
    """Two small writes, of which Nagle would keep the second until the first is acknowledged."""
    def ask():
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
        client.send("hello")
        assert client.response().status == 200

    with Backend(each=at_once) as backend:
        server = start(server=workers, **configured("", backend))
        with server.connect() as client:
            client.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            assert quick_ones(ask) < MOST


def test_a_server_by_name(start):
    """Its address is known from the second request on."""
    with Backend() as backend:
        server = start(server="Workers 1", **configured("KeepAlive 0", f"localhost:{backend.port}"))
        with server.connect() as client:
            assert quick_ones(lambda: client.request("/")) < MOST
