# SPDX-License-Identifier: Apache-2.0
"""Descriptors run out: nobody who is served suffers, nothing spins, and afterwards all is as before."""

import time

import pytest

from harness import http
from harness.client import eventually
from harness.variants import SCHEDULERS

pytestmark = pytest.mark.slow

FD_LIMIT = 80
FILES = {"a.txt": "text", **{f"{number}.txt": str(number) for number in range(100)}}


@pytest.fixture(params=SCHEDULERS)
def scheduler(request):
    return request.param


def start_small(start, scheduler, policy):
    return start(server=f"Scheduler {scheduler}\nFDLimit {FD_LIMIT}\nOverCapacity {policy}\nKeepAliveTimeout 60\nTimeout 60", files=FILES)


def is_served(server):
    try:
        return server.get("/a.txt").text == "text"
    except (OSError, AssertionError):
        return False


@pytest.mark.timed
@pytest.mark.parametrize("policy", ["Resist", "Drop", "TooBusy"])
def test_served_clients_stay_and_others_get_the_policy(start, scheduler, policy):
    server = start_small(start, scheduler, policy)
    first = server.connect()
    assert first.request("/a.txt").text == "text"
    crowd = [server.connect() for _ in range(3 * FD_LIMIT)]
    for connection in crowd:
        try:
            connection.send(http.request("/a.txt"))
        except OSError:
            pass
    assert first.request("/a.txt").text == "text"
    time.sleep(0.5)
    before = server.cpu_ticks()
    time.sleep(1)
    assert server.cpu_ticks() - before <= 15, "it spins while it has no descriptor"
    assert first.request("/a.txt").text == "text"
    for connection in crowd:
        connection.close()
    assert eventually(lambda: is_served(server))
    assert first.request("/a.txt").text == "text"


def test_resist_serves_everybody_in_the_end(start, scheduler):
    server = start_small(start, scheduler, "Resist")
    crowd = [server.connect(timeout=30) for _ in range(2 * FD_LIMIT)]
    for connection in crowd:
        connection.send(http.request("/a.txt", headers={"Connection": "close"}))
    assert [http.parse_one(connection.rest()).text for connection in crowd] == ["text"] * len(crowd)


def test_files_without_a_descriptor_are_503_or_served(start, scheduler):
    """Connections hold nearly all descriptors; files need one each."""
    server = start_small(start, scheduler, "Drop")
    held = []
    while len(held) < FD_LIMIT:
        connection = server.connect()
        try:
            connection.send(http.request("/a.txt"))
            connection.response()
        except (OSError, AssertionError):
            break
        held.append(connection)
    for number in range(100):
        response = held[number % 5].request(f"/{number}.txt")
        assert response.status in (200, 503)
        assert response.status == 503 or response.text == str(number)
    for connection in held[5:]:
        connection.close()
    assert eventually(lambda: held[0].request("/99.txt").text == "99")


def test_limit_is_a_setting(start):
    server = start(server=f"FDLimit {FD_LIMIT}")
    limits = open(f"/proc/{server.pid}/limits").read()
    assert [line.split()[3] for line in limits.splitlines() if line.startswith("Max open files")] == [str(FD_LIMIT)]
