# SPDX-License-Identifier: Apache-2.0
"""Allocation 1, 2, ... n fails in a connection of HTTP/2: an answer or an end, and the next connection is served."""

import itertools

import pytest

from harness import executable, frames, http2
from harness.config import section
from harness.http2 import DATA, END_STREAM, GOAWAY, RST_STREAM, Frames, frame
from harness.plugins import path

pytestmark = [pytest.mark.slow, pytest.mark.limit(300)]

REQUESTS = {
    "file": lambda c: c.head(1, "/a.txt"),
    "large file": lambda c: c.head(1, "/large.bin"),
    "many fields": lambda c: c.head(1, "/echo", fields=[("cookie", "a=1"), ("x", "y" * 3000), ("cookie", "b=2")]),
    "body": lambda c: c.head(1, "/echo", "POST", end=False) + frame(DATA, 0, 1, b"x" * 16000) + frame(DATA, END_STREAM, 1, b"y" * 16000),
    "refused": lambda c: c.head(1, "/missing"),
    "reset": lambda c: c.head(1, "/echo", "POST", end=False) + frame(RST_STREAM, 0, 1, bytes(4)) + c.head(3, "/a.txt"),
    "three streams": lambda c: c.head(1, "/a.txt") + c.head(3, "/large.bin") + c.head(5, "/a.txt"),
}


def asking_for_a_socket(client):
    head = client.encoder.encode([(":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"), (":path", "/socket"),
                                  (":authority", "localhost"), ("sec-websocket-version", "13")])
    return http2.frame(http2.HEADERS, http2.END_HEADERS, 1, head)


REQUESTS["socket"] = lambda c: asking_for_a_socket(c) + frame(DATA, 0, 1, frames.frame(frames.TEXT, b"x" * 5000))
REQUESTS["socket and its close"] = lambda c: asking_for_a_socket(c) + frame(DATA, END_STREAM, 1, frames.frame(frames.CLOSE))


def get(server):
    with Frames(("127.0.0.1", server.port)) as client:
        client.send(client.head(1, "/a.txt"))
        return client.answer(1)


@pytest.mark.parametrize("name", REQUESTS)
def test_connection(start, allocations, name):
    if not executable.plugin("http2"):
        pytest.skip("this build has no such plugin")
    server = start(server="Listen 127.0.0.1:0 h2\nWorkers 1", handlers="Match ^/echo echo\nMatch ^/socket sockets echo",
                   extra={"plugins.load": section("PLUGINS", f"Load {executable.plugin('http2')}\nLoad {path('sockets')}")},
                   files={"a.txt": "a", "large.bin": b"z" * 60_000}, env=allocations.environment)
    assert get(server) == (200, b"a")
    for number in itertools.count(1):
        allocations.arm(number)
        try:
            with Frames(("127.0.0.1", server.port), timeout=30) as client:
                client.send(REQUESTS[name](client))
                client.until(DATA, RST_STREAM, GOAWAY) if name == "socket" else client.answer(3 if name == "reset" else 1)
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert server.is_running(), f"allocation {number}\n{server.log()}"
        failed = allocations.failed
        allocations.disarm()
        assert get(server) == (200, b"a"), f"after allocation {number}"
        if not failed:
            break
    assert number > 5
