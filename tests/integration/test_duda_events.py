# SPDX-License-Identifier: Apache-2.0
"""Descriptors and signals on workers, globals, and threads of services."""

import pytest

from harness import duda
from harness.client import eventually

WORKERS = 3


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    services = tmp_path_factory.mktemp("services")
    duda.build(services, "obj_events", level=2)
    return start_shared(**duda.config(services, "obj_events", server=f"Workers {WORKERS}\n"))


def test_what_came_before_the_end_is_read_and_the_end_is_told_once(server):
    assert server.get("/obj_events/end").body == b"ab cd e closed known "


def test_a_timer_ticks_until_it_is_closed(server):
    assert server.get("/obj_events/ticks").body == b"tick tick tick "


def test_a_descriptor_may_be_deleted_in_its_own_event(server):
    assert server.get("/obj_events/deleted").body == b"0 -1 -1"


def test_a_second_add_replaces_the_first(server):
    assert server.get("/obj_events/replaced").body == b"sleeps wakes found unknown refused second "


def counts(server):
    return [int(number) for number in server.get("/obj_events/counts").body.split()]


def test_a_signal_arrives_once_on_every_worker(server):
    assert eventually(lambda: counts(server)[0] == 1)
    before = counts(server)
    assert server.get("/obj_events/signals").body == b"0"
    expected = [1] + [n + 1 for n in before[1:]]
    assert eventually(lambda: counts(server) == expected)


def test_globals_have_a_value_on_each_worker(server):
    seen = set()
    for _ in range(20):
        number, hooks, is_set = map(int, server.get("/obj_events/globals").body.split())
        assert hooks == WORKERS and is_set == 1
        seen.add(number)
    assert seen <= set(range(100, 100 + WORKERS + 4))


def test_threads_of_a_service_have_globals_and_loops(server):
    assert eventually(lambda: server.get("/obj_events/threads").body == b"1 1 1 1")


def test_a_thread_that_ends_is_logged(server):
    assert eventually(lambda: "a thread of worker->spawn() has ended" in server.log())


def test_threads_are_asked_for_in_duda_main_only(server):
    assert server.get("/obj_events/late").body == b"-1"
    assert "worker->spawn() works in duda_main() only" in server.log()


def test_a_signal_before_a_refused_start(start, tmp_path):
    """It was on its way to workers that never began, and found a service that was gone."""
    source = """
#include "webservice.h"
DUDA_REGISTER("tests", "early");
int duda_main()
{
    if (event->signal(1) == -1)
        msg->info("too early");
    guard->csrf(NULL); /* without session->init() */
    return 0;
}
"""
    duda.build(tmp_path, source, name="early", level=3)
    server = start(wait=False, **duda.config(tmp_path, "early"))
    assert server.expect_exit() > 0
    assert "event->signal() works on workers and threads of the service only" in server.log()
