# SPDX-License-Identifier: Apache-2.0
"""task->run() of many requests: what waits for one thing delays nobody who asks for another."""

import contextlib

import pytest

from harness import duda
from harness.client import Connection, eventually

SERVICE = """
/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include <stdatomic.h>
#include <unistd.h>

DUDA_REGISTER("tasks", "work that blocks");

static atomic_int may_end, begun;

static void block(void *arg)
{
    atomic_fetch_add(&begun, 1);
    while (!may_end)
        usleep(2000);
}

static void work(void *arg)
{
}

static void done(duda_request_t *dr, void *arg)
{
    response->send(dr, 200, "text/plain", "done");
}

static void slow(duda_request_t *dr)
{
    if (task->run(dr, block, done, NULL, NULL) < 0)
        response->problem(dr, 503, "Too many wait", NULL);
}

static void quick(duda_request_t *dr)
{
    if (task->run(dr, work, done, NULL, NULL) < 0)
        response->problem(dr, 503, "Too many wait", NULL);
}

static void release(duda_request_t *dr)
{
    may_end = 1;
    response->send(dr, 200, "text/plain", "%d", begun);
}

int duda_main()
{
    router->get("/slow", slow);
    router->get("/quick", quick);
    router->get("/release", release);
    return 0;
}
"""
REQUEST = "GET /{}/slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


@pytest.fixture
def server(start, tmp_path):
    for name in ("tasks", "others"):
        duda.build(tmp_path / "services", SERVICE.replace('"tasks"', f'"{name}"'), name=name, level=3)
    return start(**duda.config(tmp_path / "services", "tasks", "others", server="Workers 2\nHandlerThreads 3\nMaxConnections 1000"))


def ask(connections, server, name):
    connection = connections.enter_context(Connection(("127.0.0.1", server.port)))
    connection.send(REQUEST.format(name))
    return connection


@pytest.mark.plain
def test_many_that_wait_are_answered_and_delay_no_other_work(server):
    with contextlib.ExitStack() as connections:
        waiting = [ask(connections, server, "tasks") for _ in range(300)]
        assert eventually(lambda: server.get("/tasks/quick").text == "done")
        assert server.get("/others/quick").text == "done"
        others = [ask(connections, server, "others") for _ in range(4)]
        assert server.get("/others/release").status == 200
        assert [client.response().body for client in others] == [b"done"] * 4
        for client in waiting[::3]:
            client.close()
        assert 3 <= int(server.get("/tasks/release").text) <= 4
        assert {client.response().status for number, client in enumerate(waiting) if number % 3} == {200}
    assert server.get("/tasks/slow").text == "done"
