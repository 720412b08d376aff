/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("examples", "cookies");

void set(duda_request_t *dr)
{
    response->http_status(dr, 200);
    cookie->set(dr, "colour", 6, "green", 5, 0);
    response->end(dr, NULL);
}

void get(duda_request_t *dr)
{
    char *value;
    int len;

    response->http_status(dr, 200);
    if (cookie->get(dr, "colour", &value, &len) == 0)
        response->printf(dr, "%.*s\n", len, value);
    else
        response->printf(dr, "none\n");
    response->end(dr, NULL);
}

void drop(duda_request_t *dr)
{
    response->http_status(dr, 200);
    cookie->destroy(dr, "colour", 6);
    response->end(dr, NULL);
}

int duda_main()
{
    map->static_add("/set", "set");
    map->static_add("/get", "get");
    map->static_add("/drop", "drop");
    return 0;
}
