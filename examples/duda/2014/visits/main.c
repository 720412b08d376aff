/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("examples", "sessions");

void enter(duda_request_t *dr)
{
    response->http_status(dr, 200);
    session->create(dr, "user", "ann", xtime->next_hours(1));
    response->end(dr, NULL);
}

void who(duda_request_t *dr)
{
    char *user = session->isset(dr, "user") == 0 ? session->get(dr, "user") : NULL;

    if (user)
        gc->add(dr, user);
    response->http_status(dr, 200);
    response->printf(dr, "%s\n", user ? user : "nobody");
    response->end(dr, NULL);
}

void leave(duda_request_t *dr)
{
    response->http_status(dr, 200);
    session->destroy(dr, "user");
    response->end(dr, NULL);
}

int duda_main()
{
    session->init("visits");
    map->static_add("/enter", "enter");
    map->static_add("/who", "who");
    map->static_add("/leave", "leave");
    return 0;
}
