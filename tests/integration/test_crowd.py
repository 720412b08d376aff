# SPDX-License-Identifier: Apache-2.0
"""Ten thousand idle connections cost no CPU, and each of them is still answered."""

import select
import time

import pytest

from harness import http, process, tools, turns
from harness.client import Connection
from harness.config import section
from harness.variants import SCHEDULERS

pytestmark = pytest.mark.slow

COUNT = 10_000


def ask_all(connections):
    """Everybody asks; then every answer is read."""
    for connection in connections:
        connection.send(http.request("/a.txt"))
    for connection in connections:
        assert connection.response().text == "text"


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_ten_thousand_idle_connections(start, scheduler):
    tools.raise_descriptor_limit(COUNT + 2000)
    server = start(server=f"Scheduler {scheduler}\nFDLimit {COUNT + 2000}\nTimeout 250\nKeepAliveTimeout 250", files={"a.txt": "text"},
                   extra={"plugins.load": section("PLUGINS", f"Load {process.plugin('status')}")})
    connections = []
    try:
        while len(connections) < COUNT:
            connections.append(Connection(("127.0.0.1", server.port), timeout=30))
        ask_all(connections)
        assert server.open_descriptors() >= COUNT
        time.sleep(1)
        assert turns.made_in(3, lambda: server.get("/metrics").text) <= turns.FEW, "idle connections cost turns"
        ask_all(connections)
        ready = select.poll()
        for connection in connections:
            ready.register(connection.sock, select.POLLIN)
        assert ready.poll(0) == [], "somebody was closed or got an answer too many"
    finally:
        for connection in connections:
            connection.close()
    assert server.get("/a.txt").text == "text"


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_ten_thousand_that_never_send_are_closed_on_time(start, scheduler):
    tools.raise_descriptor_limit(COUNT + 2000)
    server = start(server=f"Scheduler {scheduler}\nFDLimit {COUNT + 2000}\nTimeout 5", files={"a.txt": "text"})
    connections = []
    try:
        while len(connections) < COUNT:
            connections.append(Connection(("127.0.0.1", server.port), timeout=30))
        assert all(connection.is_closed() for connection in connections)
    finally:
        for connection in connections:
            connection.close()
    assert server.get("/a.txt").text == "text"
