/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("waits", "requests that are answered later, and what becomes of them");

/* One worker serves these tests, so this needs no lock. */
static duda_request_t *parked;
static int calls, valid_at_end, last_valid;

static void on_end(duda_request_t *dr)
{
    calls++;
    valid_at_end += last_valid = request->validate_request(dr);
}

static void park(duda_request_t *dr)
{
    parked = dr;
    response->wait(dr);
}

/* Answers the parked request, and says what it was. */
static void wake(duda_request_t *dr)
{
    int valid = request->validate_request(parked);
    int by_socket = valid ? request->validate_socket(parked->socket) : 0;

    if (valid) {
        response->cont(parked);
        response->http_status(parked, 200);
        response->printf(parked, "later");
        response->finalize(parked, on_end);
    }
    response->http_status(dr, 200);
    response->printf(dr, "%d %d", valid, by_socket);
    response->end(dr, NULL);
}

static void say(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%d %d %d %d", calls, valid_at_end, last_valid,
                     request->validate_request(NULL));
    response->end(dr, NULL);
}

static void callback(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->print(dr, "called back", 11);
    response->end(dr, on_end);
}

/* More than a socket takes. */
static void much(duda_request_t *dr)
{
    static char piece[65536];

    response->http_status(dr, 200);
    for (int i = 0; i < 500; i++)
        response->print(dr, piece, sizeof(piece));
    response->end(dr, on_end);
}

static void never(duda_request_t *dr)
{
    response->http_status(dr, 200);
}

static void valid(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%d", request->validate_request(parked));
    response->end(dr, NULL);
}

/* An answer in pieces, each when another request asks for it. */
static void open_stream(duda_request_t *dr)
{
    parked = dr;
    response->http_status(dr, 200);
    response->send_headers(dr);
    response->print(dr, "first ", 6);
    response->flush(dr);
    response->wait(dr);
}

static void more(duda_request_t *dr)
{
    int result = request->validate_request(parked) ? response->print(parked, "more ", 5) : -2;

    response->http_status(dr, 200);
    response->printf(dr, "%d", result);
    response->end(dr, NULL);
}

static void close_stream(duda_request_t *dr)
{
    response->cont(parked);
    response->finalize(parked, on_end);
    response->http_status(dr, 200);
    response->end(dr, NULL);
}

static void no_wait(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%d", response->cont(dr));
    response->end(dr, NULL);
}

int duda_main()
{
    map->static_add_ref("/park", park);
    map->static_add_ref("/wake", wake);
    map->static_add_ref("/say", say);
    map->static_add_ref("/callback", callback);
    map->static_add_ref("/much", much);
    map->static_add_ref("/never", never);
    map->static_add_ref("/cont", no_wait);
    map->static_add_ref("/valid", valid);
    map->static_add_ref("/open", open_stream);
    map->static_add_ref("/more", more);
    map->static_add_ref("/close", close_stream);
    return 0;
}
