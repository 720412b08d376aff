/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("examples", "hello");

void hello(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->http_header(dr, "Content-Type: text/plain");
    response->print(dr, "Hello\n", 6);
    response->end(dr, NULL);
}

int duda_main()
{
    map->static_root("hello");
    return 0;
}
