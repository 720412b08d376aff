# SPDX-License-Identifier: Apache-2.0
"""Those who wait to be accepted have their share of every turn, however many connections ask already."""

import signal

import pytest

from harness import http, stopped, tools
from harness.logs import logging, wait_for_lines
from harness.variants import SCHEDULERS

KEPT, NEW = 600, 400


# With Fair, another thread accepts: how soon it has a processor is up to the machine.
@pytest.mark.parametrize("scheduler", [pytest.param(name, marks=pytest.mark.timed if name == "Fair" else ()) for name in SCHEDULERS])
def test_a_crowd_at_the_door_does_not_wait_for_a_round_of_all_inside(start, scheduler):
    """Everybody asks while the server is held; the log tells in which order they were served."""
    tools.raise_descriptor_limit(KEPT + NEW + 1000)
    server = start(**logging("FlushTimeout 0\nFormat '%r'", files={"a.txt": "text"},
                             server=f"Workers 1\nScheduler {scheduler}\nFDLimit 4000\nTimeout 600\nKeepAliveTimeout 600"))
    kept = [server.connect(timeout=30) for _ in range(KEPT)]
    for connection in kept:
        assert connection.request("/a.txt").text == "text"
    stopped.stop(server.process)
    try:
        new = [server.connect(timeout=30) for _ in range(NEW)]
        for connection in new:
            connection.send(http.request("/a.txt?new"))
        for connection in kept:
            connection.send(http.request("/a.txt?kept"))
    finally:
        server.signal(signal.SIGCONT)
    for connection in kept + new:
        assert connection.response().text == "text"
        connection.close()
    order = ["?new" in line for line in wait_for_lines(server.conf / "access.log", 2 * KEPT + NEW)[KEPT:]]
    newcomers = sum(order[:KEPT])
    assert newcomers > KEPT // 4, "they were served last"
    assert newcomers < KEPT // 2, "those inside waited for more than a turn's share: 64 beside 128 events"
