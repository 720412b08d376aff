/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("examples", "parameters in the path, and in the query");

/* /parameters/sum/of/2/3 */
void sum(duda_request_t *dr)
{
    long a, b;

    if (param->get_number(dr, 0, &a) != 0 || param->get_number(dr, 1, &b) != 0) {
        response->http_status(dr, 400);
        response->printf(dr, "two numbers, please\n");
        response->end(dr, NULL);
    }
    response->http_status(dr, 200);
    response->printf(dr, "%ld\n", a + b);
    response->end(dr, NULL);
}

/* /parameters/query?name=... */
void query(duda_request_t *dr)
{
    char *name = qs->get(dr, "name");

    response->http_status(dr, 200);
    response->printf(dr, "%d %s\n", qs->count(dr), name ? name : "nobody");
    response->end(dr, NULL);
}

int duda_main()
{
    duda_interface_t *interface = map->interface_new("sum");
    duda_method_t *method = map->method_new("of", "sum", 2);

    map->method_add_param(map->param_new("a", 9), method);
    map->method_add_param(map->param_new("b", 9), method);
    map->interface_add_method(method, interface);
    map->add_interface(interface);
    map->static_add("/query", "query");
    return 0;
}
