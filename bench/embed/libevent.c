/* SPDX-License-Identifier: Apache-2.0 */
#include "answers.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdlib.h>

/* libevent's evhttp: one loop. It keeps each body whole before a call-back is called. */

static void send_text(struct evhttp_request *r, const char *type, const char *text, size_t len)
{
    struct evbuffer *body = evbuffer_new();

    if (!body)
        return;
    evhttp_add_header(evhttp_request_get_output_headers(r), "Content-Type", type);
    evbuffer_add(body, text, len);
    evhttp_send_reply(r, 200, "OK", body);
    evbuffer_free(body);
}

static void hello(struct evhttp_request *r, void *arg)
{
    (void)arg;
    send_text(r, "text/plain", HELLO, sizeof(HELLO) - 1);
}

static void json(struct evhttp_request *r, void *arg)
{
    char text[JSON_ROOM];

    (void)arg;
    send_text(r, "application/json", text, write_json(text));
}

static void count(struct evhttp_request *r, void *arg)
{
    char text[COUNT_ROOM];

    (void)arg;
    send_text(r, "text/plain", text,
              write_count(text, evbuffer_get_length(evhttp_request_get_input_buffer(r))));
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    struct evhttp *server = base ? evhttp_new(base) : NULL;

    if (!server)
        return 1;
    evhttp_set_max_body_size(server, BODY_MAX);
    evhttp_set_timeout(server, KEEP_SECONDS);
    evhttp_set_cb(server, "/hello", hello, NULL);
    evhttp_set_cb(server, "/json", json, NULL);
    evhttp_set_cb(server, "/count", count, NULL);
    if (evhttp_bind_socket(server, "127.0.0.1",
                           (unsigned short)(argc > 1 ? strtoul(argv[1], NULL, 10) : 0)) < 0)
        return 1;
    return event_base_dispatch(base) < 0;
}
