/* SPDX-License-Identifier: Apache-2.0 */
#include "arena.h"
#include "packages/websocket/websocket.h"

#include <errno.h>
#include <stdlib.h>

/* The end points of a public benchmark of frameworks: see README.md. */

DUDA_REGISTER("arena", "the end points of a public benchmark");

static void answer_text(duda_request_t *dr, const char *text)
{
    response->http_status(dr, 200);
    response->http_header(dr, "Content-Type: text/plain");
    response->print(dr, (char *)text, (int)strlen(text));
    response->end(dr, NULL);
}

static void answer_number(duda_request_t *dr, long long n)
{
    char text[24];

    snprintf(text, sizeof(text), "%lld", n);
    answer_text(dr, text);
}

static void pipeline(duda_request_t *dr)
{
    answer_text(dr, "ok");
}

/* ---- sums ---- */

enum { BODY_MAX = 20 };

/* The whole body, of at most BODY_MAX bytes, is a number; without one it is 0. */
static int read_body(duda_request_t *dr, long *n)
{
    size_t len = 0;
    const char *body = request->body(dr, &len);
    char text[BODY_MAX + 1], *end;

    *n = 0;
    if (!body || len == 0)
        return 0;
    memcpy(text, body, len);
    text[len] = '\0';
    errno = 0;
    *n = strtol(text, &end, 10);
    return *end || errno ? -1 : 0;
}

static void add(duda_request_t *dr)
{
    long a, b, body, sum;

    if (request->content_length(dr) > BODY_MAX) {
        response->problem(dr, 413, "The body is a number", NULL);
        return;
    }
    if (query->get_number(dr, "a", &a) < 0 || query->get_number(dr, "b", &b) < 0 ||
        read_body(dr, &body) < 0 || __builtin_add_overflow(a, b, &sum) ||
        __builtin_add_overflow(sum, body, &sum)) {
        response->problem(dr, 400, "a, b and the body are numbers", NULL);
        return;
    }
    answer_number(dr, sum);
}

/* ---- uploads ---- */

static int count_bytes(duda_request_t *dr, const struct duda_part *part, const char *bytes,
                       size_t length, void *arg)
{
    *(long long *)arg += (long long)length;
    return 0;
}

static void end_upload(duda_request_t *dr, int error, void *arg)
{
    if (error == 0)
        answer_number(dr, *(long long *)arg);
    else
        response->problem(dr, 400, "The body is not whole", NULL);
}

static void upload(duda_request_t *dr)
{
    static const struct duda_receiver counter = {.data = count_bytes, .done = end_upload};
    long long *count = mem->alloc_z(sizeof(*count));

    if (count && gc->add(dr, count) < 0) {
        mem->free(count);
        count = NULL;
    }
    if (!count || request->read(dr, &counter, count) < 0)
        response->problem(dr, 503, "Try again later", NULL);
}

/* ---- echo ---- */

static void echo(duda_request_t *dr)
{
    const struct ws_options options = {.origins = "*", .max_message = 16 << 20};

    websocket->accept(dr, &options);
}

static void on_message(duda_request_t *dr, ws_request_t *wr)
{
    websocket->write(wr, wr->opcode, wr->payload, wr->payload_len);
}

int duda_main()
{
    const char *file = getenv("ARENA_ITEMS");

    duda_load_package(json, "json");
    duda_load_package(websocket, "websocket");
    if (items_load(file ? file : "items.tsv") < 0) {
        msg->err("arena: ARENA_ITEMS names no list of items");
        return -1;
    }
    if (store_open() < 0)
        return -1;
    websocket->set_callback(WS_ON_MESSAGE, on_message);
    router->route("GET POST", "/baseline11", add);
    router->get("/baseline2", add);
    router->get("/pipeline", pipeline);
    router->early("POST", "/upload", upload);
    router->get("/ws", echo);
    items_routes();
    store_routes();
    return 0;
}
