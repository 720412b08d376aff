# SPDX-License-Identifier: Apache-2.0
"""Backends, checks and the page while an allocation fails: at the start, on a reload, and when the page is asked for."""

import itertools
import json

import pytest

from harness.backend import backends, proxy, servers
from harness.client import eventually


@pytest.fixture
def two():
    with backends(2) as made:
        yield made


def lines(two, balancer="LeastConnections"):
    return (f"Match ^/\n{servers(two, [2, 1])}\nLoadBalancer {balancer}\nHealthCheck / 100ms\nSlowStart 1\n"
            "StatisticsURL /stats\nOfflineTimeOut 300ms")


def page(server):
    return json.loads(server.get("/stats?format=json").text)["entries"][0]["backends"]


@pytest.mark.slow
@pytest.mark.limit(300)
@pytest.mark.parametrize("balancer", ["LeastConnections", "ConsistentHash"])
def test_a_reload_while_an_allocation_fails(start, two, allocations, balancer):
    """It is refused and the old configuration stays, with its backends; or it succeeds."""
    server = start(server="Workers 1", extra=proxy(lines(two)), env=allocations.environment)
    assert server.get("/").status == 200
    since = len(server.log())
    for number in itertools.count(1):
        config = proxy(lines(two, balancer) + f"\nConnectTimeout {1 + number % 2}")
        server.config.write(server="Workers 1", extra=config)
        since = len(server.log())
        allocations.arm(number)
        server.signal(1)
        assert eventually(lambda: "reload" in server.log()[since:].lower() or not server.is_running())
        allocations.disarm()
        assert server.is_running(), f"allocation {number}\n{server.log()[-2000:]}"
        assert server.get("/").status == 200, number
        if not allocations.failed:
            break
    assert number > 20
    assert {fact["state"] for fact in page(server)} == {"up"}


@pytest.mark.slow
def test_the_page_while_an_allocation_fails(start, two, allocations):
    server = start(server="Workers 1", extra=proxy(lines(two)), env=allocations.environment)
    for target in ("/stats", "/stats?format=json"):
        for number in itertools.count(1):
            with server.connect() as connection:
                connection.request("/")
                allocations.arm(number)
                try:
                    answer = connection.request(target)
                    assert answer.status in (200, 500, 503), number
                except (AssertionError, OSError):
                    answer = None  # the connection may be what there is no memory for
                allocations.disarm()
            assert server.is_running(), f"allocation {number}\n{server.log()[-2000:]}"
            if not allocations.failed:
                assert answer.status == 200
                break
        assert number > 1
