# SPDX-License-Identifier: Apache-2.0
"""What a route costs does not depend on how many there are."""

import counted
import pytest

from harness import duda, http, process

SERVICE = """
#include "webservice.h"
DUDA_REGISTER("tests", "many routes");
static void answer(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->end(dr, NULL);
}
int duda_main()
{
    char pattern[64];

    for (int i = 999; i > 999 - %d; i--) {
        snprintf(pattern, sizeof(pattern), "/group%%d/items%%d/:id<int>", i / 30, i);
        router->get(pattern, answer);
    }
    return 0;
}
"""


def cost(folder, routes):
    def ask(connection):
        connection.send(http.request("/many/group33/items999/7"))
        assert connection.response().status == 200

    duda.build(folder / "services", SERVICE % routes, name="many", level=3)
    return counted.each(folder, lambda connection: None, ask, server="Workers 1\nMaxKeepAliveRequest 10000",
                        **duda.config(folder / "services", "many"))


def test_a_thousand_routes_cost_what_one_costs(tmp_path):
    if process.is_sanitized():
        pytest.skip("a sanitizer's build has other costs")
    one, thousand = cost(tmp_path / "one", 1), cost(tmp_path / "thousand", 1000)
    print(f"{one:.0f} instructions for a request with one route, {thousand:.0f} with 1,000")
    assert thousand - one <= 250
