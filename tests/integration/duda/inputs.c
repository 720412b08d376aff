/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("inputs", "query strings and cookies");

static void query(duda_request_t *dr)
{
    char *a = qs->get(dr, "a");

    response->http_status(dr, 200);
    response->printf(dr, "%d a=%s %d %d", qs->count(dr), a ? a : "NULL", qs->cmp(dr, "a", "1"),
                     qs->cmp(dr, "a", ""));
    for (int i = -1; i <= qs->count(dr); i++) {
        char *text = qs->get_id(dr, i);

        response->printf(dr, " %s", text ? text : "NULL");
    }
    response->end(dr, NULL);
}

static void show(duda_request_t *dr)
{
    char *value = "";
    int len = 0, result = cookie->get(dr, "k1", &value, &len);

    response->http_status(dr, 200);
    response->printf(dr, "%d %.*s %d", result, len, value, cookie->cmp(dr, "k1", "v1"));
    response->end(dr, NULL);
}

static void set(duda_request_t *dr)
{
    char bad[] = "a\r\nX-Evil: 1";

    cookie->set(dr, "one", 3, "1", 1, 0);
    cookie->set(dr, "two", 3, "2", 1, 1893456000);
    cookie->destroy(dr, "three", 5);
    response->http_status(dr, 200);
    response->printf(dr, "%d", cookie->set(dr, "four", 4, bad, sizeof(bad) - 1, 0));
    response->end(dr, NULL);
}

int duda_main()
{
#if DUDA_API_LEVEL >= 2
    router->map("/query", query);
    router->map("/show", show);
    router->map("/set", set);
#else
    map->static_add_ref("/query", query);
    map->static_add_ref("/show", show);
    map->static_add_ref("/set", set);
#endif
    return 0;
}
