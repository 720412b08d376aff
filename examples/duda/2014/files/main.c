/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("examples", "files of the data directory");

void whole(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->http_content_type(dr, "txt");
    response->sendfile(dr, data->locate("text.txt"));
    response->end(dr, NULL);
}

void part(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "part: ");
    response->sendfile_range(dr, data->locate("text.txt"), 2, 4);
    response->end(dr, NULL);
}

void missing(duda_request_t *dr)
{
    response->http_status(dr, response->sendfile(dr, data->locate("missing")) == 0 ? 200 : 404);
    response->end(dr, NULL);
}

int duda_main()
{
    map->static_add("/whole", "whole");
    map->static_add("/part", "part");
    map->static_add("/missing", "missing");
    return 0;
}
