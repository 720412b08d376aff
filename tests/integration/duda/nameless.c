/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"
DUDA_REGISTER("tests", "tokens of a service that names no log-in");

static void show(duda_request_t *dr)
{
    const char *token = guard->token(dr);

    response->send(dr, 200, "text/plain", "%s", token ? token : "-");
}

static void ok(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "ok");
}

static void log_in(duda_request_t *dr)
{
    session->create(dr, "user", (char *)form->get(dr, "user"), 0);
    show(dr);
}

static void enter(duda_request_t *dr)
{
    session->create(dr, "cart", "1", 0);
    response->send(dr, 200, "text/plain", "ok");
}

static void tokens(void)
{
    guard->csrf(NULL);
    router->get("/", show);
    router->post("/", ok);
    router->post("/login", log_in);
}

int duda_main()
{
    session->init("s");
    router->get("/enter", enter);
    router->group("/tokens", tokens);
    return 0;
}
