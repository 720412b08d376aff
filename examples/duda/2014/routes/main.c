/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("examples", "routes of level 2");

void start(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "start\n");
    response->end(dr, NULL);
}

void user(duda_request_t *dr)
{
    long number;

    if (param->get_number(dr, "id", &number) != 0) {
        response->http_status(dr, 400);
        response->end(dr, NULL);
    }
    response->http_status(dr, 200);
    response->printf(dr, "user %ld, %s\n", number, param->get(dr, "page"));
    response->end(dr, NULL);
}

int duda_main()
{
    router->root(start);
    router->map("/user/:id/:page", user);
    return 0;
}
