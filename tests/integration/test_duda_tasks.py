# SPDX-License-Identifier: Apache-2.0
"""Timers and tasks of level 3."""

import pytest

from harness import duda, http
from harness.client import eventually


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    duda.build(folder, "timed", level=3)
    return start_shared(server="Workers 1", **duda.config(folder, "timed"))


def test_a_timer_answers_a_parked_request(server):
    assert server.get("/timed/later").body == b"later"


def test_a_timer_repeats_until_it_is_cancelled(server):
    assert eventually(lambda: server.get("/timed/ticks").body == b"5")
    assert server.get("/timed/later").body == b"later"  # another turn of the clock
    assert server.get("/timed/ticks").body == b"5"


def test_a_cancelled_timer_is_gone(server):
    assert server.get("/timed/cancel").body == b"0 -1 -1 1"


def test_timers_end_with_the_server(start, tmp_path):
    duda.build(tmp_path / "services", "timed", level=3)
    server = start(**duda.config(tmp_path / "services", "timed"))
    with server.connect() as connection:
        connection.send(http.request("/timed/later"))
        assert connection.response().body == b"later"
    server.stop()


@pytest.mark.parametrize("query, said", [("?a=2&b=3", b"5"), ("?a=1&b=1&rounds=4", b"6")])
def test_the_answer_follows_the_work(server, query, said):
    assert server.get("/timed/sum" + query).body == said


def test_wrong_tasks(server):
    assert server.get("/timed/wrong").body == b"-2"


def counts(server, method="GET", path="/counts"):
    numbers = server.request("/timed" + path, method).body.split()
    return dict(zip(("begun", "worked", "done", "ends", "left"), map(int, numbers), strict=True))


def test_work_keeps_no_other_request_waiting(server):
    counts(server, "DELETE", "/gate")
    with server.connect() as connection:
        connection.send(http.request("/timed/sum?a=20&b=3"))
        assert server.get("/timed/cancel").body == b"0 -1 -1 1"
        counts(server, "PUT", "/gate")
        assert connection.response().body == b"23"


def test_a_client_that_leaves_gets_no_answer_and_the_task_ends(server):
    def is_over():
        now = counts(server)
        return now["begun"] == now["left"] and now["worked"] == now["ends"]

    assert eventually(is_over)  # tests before this one
    before = counts(server, "DELETE", "/gate")
    with server.connect() as connection:
        connection.send(http.request("/timed/sum?a=20&b=3"))
        assert eventually(lambda: counts(server)["begun"] == before["begun"] + 1)
    assert eventually(lambda: counts(server)["left"] == before["left"] + 1)
    counts(server, "PUT", "/gate")
    assert eventually(lambda: counts(server)["ends"] == before["ends"] + 1)
    assert counts(server)["done"] == before["done"]
