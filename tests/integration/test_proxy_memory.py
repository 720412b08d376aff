# SPDX-License-Identifier: Apache-2.0
"""A proxy without memory: allocation 1, 2, ... n of an exchange fails. An error or a closed connection, and the next is served."""

import pytest

from harness import http
from harness.backend import Backend, configured

pytestmark = [pytest.mark.slow, pytest.mark.limit(600)]

UPGRADE = {"Connection": "Upgrade", "Upgrade": "echo"}
REQUESTS = {
    "small": http.request("/"),
    "large": http.request("/large"),
    "chunks": http.request("/chunks"),
    "body": http.request("/", "POST", body=b"x" * 50_000),
    "chunked body": http.request("/", "POST", headers={"Transfer-Encoding": "chunked"}, body=http.chunked(b"a" * 5000, b"b")),
    "stale": http.request("/close") + http.request("/"),
    "upgrade": http.request("/", headers=UPGRADE) + b"y" * 100_000,
    "garbage": http.request("/garbage"),
}


def each(conn, request):
    if request.header("Upgrade"):
        conn.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nfirst")
        while data := conn.pending or conn.sock.recv(65536):
            conn.pending = b""
            conn.send(data)
        raise EOFError
    if request.target == "/large":
        conn.answer(b"l" * 300_000)
    elif request.target == "/chunks":
        conn.chunked(b"a" * 20_000, b"b" * 20_000)
    elif request.target == "/garbage":
        conn.send(b"garbage\r\n\r\n")
        raise EOFError
    else:
        conn.answer(b"ok")
    if request.target == "/close":
        raise EOFError


@pytest.mark.parametrize("name", REQUESTS)
def test_exchange(start, allocations, name):
    with Backend(each=each) as backend:
        server = start(server="Workers 1", env=allocations.environment, **configured("OfflineTimeOut 0", backend))
        server.wait_for_log("started workers=")  # plugins begin behind the first sockets
        def next_is_served():
            assert server.request("/").body == b"ok"

        assert allocations.until_no_request_fails(server, REQUESTS[name], next_is_served) > 1
