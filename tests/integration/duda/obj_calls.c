/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("obj_calls", "a root service that binds its messages");

static char row[] = "X-Row: yes and more";

void methods(duda_request_t *dr)
{
    char *block = monkey->mem_alloc(8), *zeroed = monkey->mem_alloc_z(8);

    block = monkey->mem_realloc(block, 4000);
    response->http_status(dr, 200);
    response->http_header_n(dr, row, 10);
    response->printf(dr, "%d%d%d%d%d %d %d", request->is_get(dr), request->is_post(dr),
                     request->is_head(dr), request->is_put(dr), request->is_delete(dr),
                     request->is_content_type(dr, "text/plain"), block && zeroed && zeroed[7] == 0);
    monkey->mem_free(block);
    monkey->mem_free(zeroed);
    response->end(dr, NULL);
}

void say(duda_request_t *dr)
{
    printf("plain text of the service\n");
    monkey->stacktrace();
    response->http_status(dr, 200);
    response->end(dr, NULL);
}

int duda_main()
{
    conf->service_root();
    conf->bind_messages();
    map->static_add("/say", "say");
    map->static_add("/", "methods");
    return 0;
}
