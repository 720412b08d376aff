/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

/* The smallest service: what the framework itself costs a request. */

DUDA_REGISTER("Hello", "hello");

void cb_hello(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->http_header(dr, "Content-Type: text/plain");
    response->print(dr, "Hello World!\n", 13);
    response->end(dr, NULL);
}

int duda_main(void)
{
    map->static_add("/", "cb_hello");
    return 0;
}
