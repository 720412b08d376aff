/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/websocket/websocket.h"

#include <unistd.h>

/*
 * A chat that runs on several servers. What a client says goes to all others, whichever server they are on; a visitor's count
 * of visits is in a session, which all servers share. The service does not know of the others: duda.conf does.
 */

DUDA_REGISTER("hall", "a chat on several servers");

static void on_message(duda_request_t *dr, ws_request_t *wr)
{
    (void)dr;
    websocket->broadcast(NULL, wr->payload, wr->payload_len, (int)wr->opcode, -1);
}

/* Messages between servers were lost: pages are told, and ask for what they need. Here they have nothing to ask for. */
static void on_gap(int missed, unsigned int unsent)
{
    msg->warn("hall: messages of other servers %s, %u of our own may be lost",
              missed == MK_TRUE ? "were missed" : "came", unsent);
}

static void chat(duda_request_t *dr)
{
    const struct ws_options options = {.max_message = 1000};

    websocket->accept(dr, &options);
}

/* The process id shows which server answers. */
static void visit(duda_request_t *dr)
{
    char *before = session->get(dr, "visits"), now[16];

    snprintf(now, sizeof(now), "%d", before ? atoi(before) + 1 : 1);
    mem->free(before);
    if (session->create(dr, "visits", now, 0) < 0)
        response->problem(dr, 503, "Sessions cannot be kept", NULL);
    else
        response->send(dr, 200, "text/plain", "visit %s, server %d\n", now, (int)getpid());
}

int duda_main()
{
    duda_load_package(websocket, "websocket");
    websocket->broadcaster();
    websocket->set_callback(WS_ON_MESSAGE, on_message);
    websocket->on_gap(on_gap);
    router->get("/chat", chat);
    router->get("/visit", visit);
    return session->init("hall");
}
