# SPDX-License-Identifier: Apache-2.0
"""MaxConnections with each OverCapacity, and MaxConnectionsPerIP; with both schedulers."""

import contextlib
import select

import pytest

from harness import http, process, tools
from harness.client import PATIENCE, eventually, free_port
from harness.variants import SCHEDULERS

FILES = {"a.txt": "text"}


def fill(server, count):
    """So many connections that are known to be accepted, because each was answered."""
    connections = [server.connect() for _ in range(count)]
    for connection in connections:
        assert connection.request("/a.txt").status == 200
    return connections


def next_answered(waiting):
    """Which one is next, the system decides where sockets have queues of their own."""
    ready, _, _ = select.select([connection.sock for connection in waiting], [], [], PATIENCE)
    connection = next(connection for connection in waiting if connection.sock in ready)
    assert connection.response().status == 200
    return connection


def settings(scheduler, *lines):
    return "\n".join([f"Scheduler {scheduler}", "KeepAliveTimeout 600", "Timeout 600", *lines])


@pytest.fixture(params=SCHEDULERS)
def scheduler(request):
    return request.param


def test_resist_lets_further_clients_wait(start, scheduler):
    """They wait in the backlog and are served as soon as there is room."""
    server = start(server=settings(scheduler, "MaxConnections 4", "OverCapacity Resist"), files=FILES)
    held = fill(server, 4)
    waiting = [server.connect(), server.connect()]
    for connection in waiting:
        connection.send(http.request("/a.txt"))
    assert not any(connection.is_closed(within=0.3) for connection in waiting)
    held[0].close()
    held[1].close()
    assert [connection.response().status for connection in waiting] == [200, 200]


def test_resist_says_once_that_it_began_and_that_it_ended(start, scheduler):
    server = start(server=settings(scheduler, "MaxConnections 4", "OverCapacity Resist"), files=FILES)
    for episode in (1, 2):
        held = fill(server, 4)
        waiting = [server.connect() for _ in range(8)]
        for connection in waiting:
            connection.send(http.request("/a.txt"))
        assert eventually(lambda: server.log().count("waiting: too many connections") == episode)
        while waiting:  # each close makes room for one, and it is full again
            held.pop(0).close()
            held.append(next_answered(waiting))
            waiting.remove(held[-1])
        assert not held[0].is_closed(within=1.2)
        for connection in held:
            connection.close()
        assert eventually(lambda: server.log().count("no longer waiting") == episode)
        assert server.log().count("waiting: too many connections") == episode


def test_resist_survives_many_rounds(start, scheduler):
    server = start(server=settings(scheduler, "MaxConnections 4", "OverCapacity Resist"), files=FILES)
    for _ in range(10):
        held = fill(server, 4)
        waiting = server.connect()
        waiting.send(http.request("/a.txt"))
        for connection in held:
            connection.close()
        assert waiting.response().status == 200
        waiting.close()


def test_resist_never_accepts_more_than_there_is_room_for(start, scheduler, tmp_path):
    """Several workers see the last free place at the same time; those that do not get it leave the client in the backlog."""
    if process.is_sanitized():
        pytest.skip("a sanitizer's build cannot be traced")
    slowly = [tools.require("strace"), "-D", "-f", "-o", tmp_path / "trace", "-e", "trace=accept4", "-e",
              "inject=accept4:delay_enter=20000"]
    server = start(server=settings(scheduler, "Workers 4", "MaxConnections 6", "OverCapacity Resist"), files=FILES, wrapper=slowly)
    held = fill(server, 5)
    waiting = [server.connect() for _ in range(6)]
    for connection in waiting:
        connection.send(http.request("/a.txt"))
    while waiting:
        connection = next_answered(waiting)
        waiting.remove(connection)
        connection.close()
    assert "dropped" not in server.log()
    assert held[0].request("/a.txt").status == 200


def test_drop_closes_further_clients_at_once(start, scheduler):
    server = start(server=settings(scheduler, "MaxConnections 4", "OverCapacity Drop"), files=FILES)
    held = fill(server, 4)
    for _ in range(3):
        with server.connect() as connection:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it may be closed already
                connection.send(http.request("/a.txt"))
            assert connection.is_closed()
    assert held[0].request("/a.txt").status == 200


def test_too_busy_answers_503(start, scheduler):
    server = start(server=settings(scheduler, "MaxConnections 4", "OverCapacity TooBusy"), files=FILES)
    held = fill(server, 4)
    for _ in range(3):
        with server.connect() as connection:
            connection.send(http.request("/a.txt"))
            response = connection.response()
            assert response.status == 503
            assert not response.keeps_connection
            assert connection.is_closed()
    assert held[0].request("/a.txt").status == 200


@pytest.mark.parametrize("policy", ["Drop", "TooBusy"])
def test_room_is_noticed(start, scheduler, policy):
    server = start(server=settings(scheduler, "MaxConnections 4", f"OverCapacity {policy}"), files=FILES)
    held = fill(server, 4)
    for connection in held:
        connection.close()

    def is_served():
        try:
            return server.get("/a.txt").status == 200
        except (AssertionError, OSError):
            return False

    assert eventually(is_served)


def test_max_connections_per_ip(start, scheduler):
    server = start(server=settings(scheduler, "MaxConnectionsPerIP 3"), files=FILES)
    fill(server, 3)
    with server.connect() as connection:
        connection.send(http.request("/a.txt"))
        try:
            assert connection.response().status in (429, 503)
        except (AssertionError, ConnectionResetError):
            pass  # closed without an answer
    other = server.connect(source="127.0.0.2")
    assert other.request("/a.txt").status == 200


def test_max_connections_per_ip_is_freed(start, scheduler):
    server = start(server=settings(scheduler, "MaxConnectionsPerIP 3"), files=FILES)
    for _ in range(10):
        held = fill(server, 3)
        busy = server.open_descriptors()
        for connection in held:
            connection.close()
        assert eventually(lambda: server.open_descriptors() <= busy - 3)


@pytest.mark.parametrize("maximum", [0, 1000])
def test_descriptors_leave_room_for_so_many(start, scheduler, maximum):
    """monkey.conf(5), FDLimit: 80 - 16 - 2 * (6 + 1 + 8)"""
    server = start(server=settings(scheduler, "Workers 2", "FDLimit 80", "OverCapacity Drop", f"MaxConnections {maximum}"), files=FILES)
    held = fill(server, 34)
    assert server.connect().is_closed()
    assert held[0].request("/a.txt").status == 200


def reload_with_limit(server, port, limit):
    log = server.reload(server=f"Listen 127.0.0.1:{port}\nKeepAliveTimeout 600\nMaxConnectionsPerIP {limit}", files=FILES)
    assert "configuration reloaded" in log


def test_max_connections_per_ip_forgets_what_ended_while_it_was_off(start):
    port = free_port()
    server = start(server=f"Listen 127.0.0.1:{port}\nKeepAliveTimeout 600\nMaxConnectionsPerIP 2", files=FILES)
    held = fill(server, 2)
    busy = server.open_descriptors()
    reload_with_limit(server, port, 0)
    for connection in held:
        connection.close()
    assert eventually(lambda: server.open_descriptors() <= busy - 2)
    reload_with_limit(server, port, 2)
    assert len(fill(server, 2)) == 2


def test_max_connections_per_ip_is_not_freed_by_those_before_it(start):
    port = free_port()
    server = start(server=f"Listen 127.0.0.1:{port}\nKeepAliveTimeout 600", files=FILES)
    before = fill(server, 2)
    reload_with_limit(server, port, 2)
    fill(server, 2)
    busy = server.open_descriptors()
    for connection in before:
        connection.close()
    assert eventually(lambda: server.open_descriptors() <= busy - 2)
    with server.connect() as connection:
        assert connection.is_closed()
