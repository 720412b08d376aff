/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("sessions_late", "sessions at unusual moments");

static void begun(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->send_headers(dr);
    response->printf(dr, "%d", session->create(dr, "late", "1", 0));
    response->finalize(dr, NULL);
}

static void streamed(duda_request_t *dr)
{
    const int result = session->create(dr, "streamed", "yes", 0);

    response->http_status(dr, 200);
    response->send_headers(dr);
    response->printf(dr, "%d", result);
    response->finalize(dr, NULL);
}

static void go_on(void *arg)
{
    duda_request_t *dr = arg;

    if (request->validate_request(dr) != MK_TRUE)
        return;
    response->cont(dr);
    response->send(dr, 200, "text/plain", "%d %d", session->isset(dr, "streamed"),
                   session->create(dr, "waited", "yes", 0));
}

static void waited(duda_request_t *dr)
{
    response->wait(dr);
    timer->after(10, go_on, dr);
}

/* As many values as a session has, and one more; then one that is too long. */
static void full(duda_request_t *dr)
{
    static char text[70000];
    char name[16];
    int n = 0;

    memset(text, 'x', sizeof(text) - 1);
    do
        snprintf(name, sizeof(name), "n%d", n);
    while (session->create(dr, name, "v", 0) == 0 && ++n < 1000);
    response->send(dr, 200, "text/plain", "%d %d", n, session->create(dr, "n0", text, 0));
}

static void both(duda_request_t *dr)
{
    const int gone = session->destroy(dr, "streamed"), made = session->create(dr, "new", "1", 0);

    response->send(dr, 200, "text/plain", "%d %d %d", gone, made, session->isset(dr, "streamed"));
}

int duda_main()
{
    router->get("/begun", begun);
    router->get("/streamed", streamed);
    router->get("/waited", waited);
    router->get("/full", full);
    router->get("/both", both);
    return session->init("store");
}
