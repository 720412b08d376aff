/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("examples", "the body of a form");

void send_form(duda_request_t *dr)
{
    unsigned long len;
    char *body;

    if (!request->is_post(dr) || !request->is_data(dr)) {
        response->http_status(dr, 405);
        response->end(dr, NULL);
    }
    body = request->get_data(dr, &len);
    gc->add(dr, body);
    response->http_status(dr, 200);
    response->http_content_type(dr, "txt");
    response->printf(dr, "%lu: %s\n", len, body);
    response->end(dr, NULL);
}

int duda_main()
{
    map->static_add("/send", "send_form");
    return 0;
}
