# SPDX-License-Identifier: Apache-2.0
"""What LogLevel trace says of a request of a service."""

import pytest

from harness import duda, states
from harness.client import eventually

SERVICE = """
/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("states", "answers in each way");

static void whole(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "whole");
}

static void pieces(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->send_headers(dr);
    response->printf(dr, "pieces");
    response->end(dr, NULL);
}

static void parked(duda_request_t *dr)
{
    response->wait(dr);
}

static void check(duda_request_t *dr)
{
    if (query->get(dr, "refused"))
        response->send(dr, 403, "text/plain", "no");
}

static void guarded(void)
{
    router->before(check);
    router->post("/whole", whole);
}

int duda_main()
{
    guard->rate(1000, 1);
    router->get("/whole", whole);
    router->get("/pieces", pieces);
    router->get("/parked", parked);
    router->group("/guarded", guarded);
    return 0;
}
"""


@pytest.fixture
def serve(start, tmp_path):
    duda.build(tmp_path / "services", SERVICE, name="states", level=3)

    def run(level="trace:plugin"):
        return start(**duda.config(tmp_path / "services", "states", server=f"LogLevel {level}\nWorkers 1\n"))

    return run


def become(server, *names):
    eventually(lambda: states.changes(server, "duda", "request") == list(names))
    assert states.changes(server, "duda", "request") == list(names)


@pytest.mark.parametrize("path,names", [("whole", ["ended"]), ("pieces", ["open", "ended"])])
def test_an_answer(serve, path, names):
    server = serve()
    assert server.get(f"/states/{path}").text == path
    become(server, "gather", "called", *names, "over")


@pytest.mark.parametrize("query,status", [("", 200), ("?refused=1", 403)])
def test_guards_are_asked_before_the_body(serve, query, status):
    """And hooks of the service after it."""
    server = serve()
    assert server.request("/states/guarded/whole" + query, "POST", body=b"x").status == status
    become(server, "gather", "called", "gather", "called", "ended", "over")


def test_a_client_that_leaves(serve):
    server = serve()
    with server.connect() as client:
        client.send("GET /states/parked HTTP/1.1\r\nHost: a\r\n\r\n")
        become(server, "gather", "called")
    become(server, "gather", "called", "over")


def test_nothing_is_said_at_other_levels(serve):
    server = serve("debug")
    assert server.get("/states/whole").status == 200
    assert "duda state" not in server.log()
