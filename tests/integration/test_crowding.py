# SPDX-License-Identifier: Apache-2.0
"""When MaxConnections is nearly used up, the address that holds the most makes room: idle and slow connections first."""

import time

import pytest

from harness import executable, http, tools
from harness.cgi import start_site
from harness.client import eventually
from harness.variants import SCHEDULERS

MAX = 48
GREEDY = "127.0.0.66"
YOUNG = 2.0  # seconds that nobody loses a connection for
FILES = {"a.txt": "text"}
PATIENT = "Timeout 120\nKeepAliveTimeout 120\nBodyTimeout 120\nWriteTimeout 120\nMinRate 0\nMinReadRate 0"


@pytest.fixture(params=SCHEDULERS)
def scheduler(request):
    return request.param


def settings(scheduler, *lines):
    return "\n".join([PATIENT, f"Scheduler {scheduler}", f"MaxConnections {MAX}", *lines])


def be_idle(connection):
    connection.send(http.request("/a.txt"))


def send_half_a_head(connection):
    connection.send(b"GET /a.txt HTTP/1.1\r\nHost: loc")


def send_half_a_body(connection):
    connection.send(http.request("/echo", "POST", headers={"Content-Length": "100"}) + b"x")


def read_nothing(connection):
    connection.send(http.request("/large.bin"))


def fill(server, kind, count=MAX, source=GREEDY):
    connections = [server.connect(source=source, receive_buffer=4096) for _ in range(count)]
    for connection in connections:
        kind(connection)
    return connections


def is_served(server, source="127.0.0.1", within=30.0):
    with server.connect(source=source, timeout=within) as connection:
        return connection.request("/a.txt").status == 200


def fill_idle(server, count):
    """Connections that had an answer, and have been idle for long enough to be closed where room is needed."""
    idle = fill(server, be_idle, count)
    for connection in idle:
        assert connection.response().status == 200
    time.sleep(YOUNG + 0.2)
    return idle


def twelve_are_served_beside(server, kept):
    """One after the other, each from an address of its own, and none of those that are kept is closed for them."""
    for number in range(12):
        assert is_served(server, f"127.0.2.{number + 1}")
    for connection in kept:
        assert connection.request("/a.txt").status == 200


@pytest.mark.parametrize("policy", ["Resist", "Drop"])
@pytest.mark.parametrize("kind", [be_idle, send_half_a_head, send_half_a_body, read_nothing])
def test_a_normal_client_gets_in(start, scheduler, kind, policy):
    """One address holds all there is, and would for two minutes."""
    server = start(server=settings(scheduler, f"OverCapacity {policy}"), files=FILES, handlers="Match ^/echo echo")
    with open(server.root / "large.bin", "wb") as large:
        large.truncate(100 << 20)
    before = server.open_descriptors()
    fill(server, kind)
    assert eventually(lambda: server.open_descriptors() >= before + MAX)
    time.sleep(YOUNG + 0.2)

    def gets_in():
        try:
            return is_served(server)
        except (AssertionError, OSError):
            return False

    assert eventually(gets_in, every=0.1)
    for number in range(12):
        assert is_served(server, f"127.0.1.{number + 1}")
    assert "made room" in server.log()


def test_other_addresses_keep_what_they_have(start, scheduler):
    server = start(server=settings(scheduler), files=FILES)
    others = [server.connect(source=f"127.0.1.{number + 1}") for number in range(MAX // 4)]
    for connection in others:
        assert connection.request("/a.txt").status == 200
    fill_idle(server, MAX - len(others))
    twelve_are_served_beside(server, others)


def test_requests_that_are_answered_are_not_lost(start, scheduler):
    """Many share an address behind a carrier's NAT: its idle connections go, its requests do not."""
    server = start_site(start, {"late": "#!/bin/sh\nsleep 5\necho 'Content-Type: text/plain'\necho\necho late\n"},
                        "MaxProcesses 100", server=settings(scheduler, "HandlerTimeout 60"), files=FILES)
    active = fill(server, lambda connection: connection.send(http.request("/cgi-bin/late")), MAX // 2)
    fill(server, be_idle, MAX - len(active))
    time.sleep(YOUNG + 0.2)
    for number in range(12):
        assert is_served(server, f"127.0.1.{number + 1}")
    assert [connection.response().text for connection in active] == ["late\n"] * len(active)


def test_nobody_loses_anything_while_there_is_room(start, scheduler):
    server = start(server=settings(scheduler), files=FILES)
    twelve_are_served_beside(server, fill_idle(server, MAX * 3 // 4))


@pytest.mark.skipif(executable.is_sanitized(), reason="a sanitizer wants to be the first library")
@pytest.mark.parametrize("scheduler", ["ReusePort", "Fair"])
def test_those_that_have_left_make_room_first(start, scheduler):
    """A worker that was still accepting saw none of them leave, and closed idle connections for them."""
    server = start(server=settings(scheduler, "Workers 1"), files=FILES, env={"LD_PRELOAD": tools.helper("late_accept.so.c")})
    twelve_are_served_beside(server, fill_idle(server, MAX - MAX // 8 - 2))


def test_those_that_linger_go_first(start):
    """Their answers are out: they go before an idle connection, also where they are the only ones of their address."""
    server = start(server=settings("ReusePort", "Workers 1"), files=FILES)
    over = [server.connect(source=f"127.0.1.{number + 1}") for number in range(MAX // 6)]
    for connection in over:
        connection.send(b"nonsense\r\n\r\n")
        assert connection.response().status == 400
    twelve_are_served_beside(server, fill_idle(server, MAX - len(over) - 4))
