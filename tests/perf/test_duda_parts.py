# SPDX-License-Identifier: Apache-2.0
"""What parts of the framework add to a request: inputs that a route describes, and a call of another server."""

import budgets
import counted
import pytest

from harness import backend, duda, executable, http, process

ROUTES = """
#include "webservice.h"
DUDA_REGISTER("tests", "a plain route and one that describes its inputs");
struct page { int64_t id, number; };
static const struct duda_input rows[] = {
    {.name = "id", .in = DUDA_IN_PATH, .type = DUDA_INTEGER, .to = offsetof(struct page, id), .min = 1, .max = 99},
    {.name = "page", .in = DUDA_IN_QUERY, .type = DUDA_INTEGER, .to = offsetof(struct page, number), .min = 1, .max = 1000},
    {0}};
static const struct duda_inputs described = {"A page", sizeof(struct page), rows};
static void answer(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->print(dr, "page", 4);
    response->end(dr, NULL);
}
int duda_main()
{
    router->get("/plain/:id", answer);
    router->describe("GET", "/typed/:id", answer, &described);
    return 0;
}
"""
RELAY = """
#include "webservice.h"
DUDA_REGISTER("tests", "the answer of another server");
static void relay(duda_request_t *dr, const struct duda_http_answer *answer, void *arg)
{
    response->http_status(dr, answer->status);
    response->header(dr, "Content-Type", http->field(answer, "Content-Type"));
    response->print(dr, (char *)answer->body, (int)answer->length);
    response->end(dr, NULL);
}
static void ask(duda_request_t *dr)
{
    if (http->get(dr, "http://%s/", relay, NULL) < 0)
        response->problem(dr, 500, "no call", NULL);
}
int duda_main()
{
    router->get("/ask", ask);
    return 0;
}
"""
SERVER = "Workers 1\nMaxKeepAliveRequest 10000"

pytestmark = pytest.mark.skipif(process.is_sanitized(), reason="a sanitizer's build has other costs")


def cost(folder, target, **config):
    def ask(connection):
        connection.send(http.request(target))
        assert connection.response().status == 200

    return counted.each(folder, ask, ask, few=300, many=1300, server=SERVER, **config)


def test_described_inputs_stay_in_budget(tmp_path):
    duda.build(tmp_path / "services", ROUTES, name="routes", level=3)
    config = duda.config(tmp_path / "services", "routes")
    plain, described = (cost(tmp_path / name, f"/routes/{name}/7?page=3", **config) for name in ("plain", "typed"))
    print(f"{plain:.0f} instructions for a plain route, {described:.0f} for one with two numbers that it describes")
    assert described - plain <= budgets.DESCRIBED


def test_a_call_of_another_server_beside_the_proxy(tmp_path):
    if not executable.plugin("proxy_reverse"):
        pytest.skip("this build has no such plugin")
    with backend.Backend(each=lambda c, q: c.answer(b"hello", fields="Content-Type: text/plain\r\n")) as peer:
        proxy = cost(tmp_path / "proxy", "/", **backend.configured("Match /", peer))
        duda.build(tmp_path / "services", RELAY % peer.address, name="relay", level=3)
        client = cost(tmp_path / "client", "/relay/ask", **duda.config(tmp_path / "services", "relay"))
    print(f"{proxy:.0f} instructions for the answer of a backend through the proxy, {client:.0f} through http->get()")
    assert client <= proxy * budgets.CALL
