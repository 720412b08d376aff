# SPDX-License-Identifier: Apache-2.0
"""The peer resets the connection in each of its states; nobody else notices and nothing is left behind."""

import time

import pytest

from harness import http
from harness.client import eventually
from harness.variants import SCHEDULERS

ROUNDS = 25
OPEN_FILES = 2 * 4  # that each of the workers may keep: the root and three files; a leak would be one for each round


@pytest.fixture(scope="module", params=SCHEDULERS)
def server(start_shared, request):
    server = start_shared(server=f"Scheduler {request.param}\nTimeout 20\nMaxBodySize 1M",
                          files={"a.txt": "text", "medium.bin": b"m" * 100_000}, handlers="Match ^/echo echo")
    with open(server.root / "large.bin", "wb") as large:
        large.truncate(50_000_000)
    return server


def idle_before_a_request(connection):
    pass


def within_the_head(connection):
    connection.send(b"GET / HTTP/1.1\r\nHost: lo")


def right_behind_the_head(connection):
    connection.send(http.request("/a.txt"))


def behind_the_answer(connection):
    connection.request("/a.txt")


def within_a_large_answer(connection):
    connection.send(http.request("/large.bin"))
    http.read_head(connection.stream)


def before_a_medium_answer_is_read(connection):
    connection.send(http.request("/medium.bin") * 20)


def within_a_body(connection):
    connection.send(http.request("/echo", "POST", headers={"Content-Length": "100000"}) + b"x" * 5000)


def within_a_chunk(connection):
    connection.send(http.request("/echo", "POST", headers={"Transfer-Encoding": "chunked"}) + b"5\r\nhe")


def while_100_is_waited_for(connection):
    connection.send(http.request("/echo", "POST", headers={"Content-Length": "100", "Expect": "100-continue"}))


def within_a_body_that_is_skipped(connection):
    connection.send(http.request("/a.txt", headers={"Content-Length": "100000"}) + b"x" * 5000)


def while_the_server_lingers(connection):
    connection.send(http.request("/a.txt", headers={"Content-Length": "100000000"}) + b"x" * 5000)
    connection.response()


def within_many_pipelined_requests(connection):
    connection.send((http.request("/a.txt") + http.request("/missing")) * 200 + b"GET /a")


STATES = [idle_before_a_request, within_the_head, right_behind_the_head, behind_the_answer, within_a_large_answer,
          before_a_medium_answer_is_read, within_a_body, within_a_chunk, while_100_is_waited_for, within_a_body_that_is_skipped,
          while_the_server_lingers, within_many_pipelined_requests]


@pytest.mark.parametrize("pause", [0, 0.005], ids=["at_once", "after_a_moment"])
@pytest.mark.parametrize("go_to", STATES, ids=lambda state: state.__name__)
@pytest.mark.parametrize("leave", ["reset", "close"])
def test_peer_leaves(server, go_to, leave, pause):
    before = server.open_descriptors()
    with server.connect() as witness:
        assert witness.request("/a.txt").text == "text"
        for _ in range(ROUNDS):
            connection = server.connect()
            go_to(connection)
            time.sleep(pause)
            getattr(connection, leave)()
        assert witness.request("/a.txt").text == "text"
    assert eventually(lambda: server.open_descriptors() <= before + OPEN_FILES), server.open_descriptors() - before
