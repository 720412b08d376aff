# SPDX-License-Identifier: Apache-2.0
"""Calls for a request that has ended, in stage 40 and from its end: refused, and the server lives on."""

import itertools
import time

import pytest

from harness import http
from harness.client import eventually
from harness.plugins import load

CALLS = ["answer", "files", "read", "timeout", "resume", "abort", "ticket"]
WHEN = list(itertools.product(["finish", "end"], CALLS))


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(server="Workers 1\nTimeout 5\nHandlerTimeout 5", handlers="Match ^/(now|later) late",
                        files={"a.txt": "text"}, extra={"plugins.load": load("late")})


def goes_on(server):
    """What a late call left behind would be met by the next connections and within its time."""
    for _ in range(3):
        assert server.get("/a.txt").text == "text"
    time.sleep(0.4)
    assert server.get("/a.txt").text == "text"


@pytest.mark.parametrize("when, call", WHEN)
def test_after_the_answer(server, when, call):
    with server.connect() as connection:
        assert connection.request(f"/now/{when}/{call}").text == "now"
    goes_on(server)


@pytest.mark.parametrize("when, call", WHEN)
@pytest.mark.parametrize("state", ["later", "later/begun"])
def test_after_the_client_left(server, state, when, call):
    """Its body has not come, and 100 was not asked for yet."""
    with server.connect() as connection:
        connection.send(http.request(f"/{state}/{when}/{call}", "POST",
                                     headers={"Expect": "100-continue", "Content-Length": "5"}))
        time.sleep(0.05)
        connection.reset()
    goes_on(server)


def test_descriptors_do_not_pile_up(server):
    goes_on(server)
    before = server.open_descriptors()
    for _ in range(10):
        with server.connect() as connection:
            connection.send(http.request("/now/begun/finish/files"))
            time.sleep(0.02)
            connection.reset()
    assert eventually(lambda: server.open_descriptors() <= before)
