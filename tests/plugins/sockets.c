/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/plugin.h>
#include <monkey/websocket.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * `Match REGEX sockets KIND`: echo, pieces (echo by pieces), group (to all), close (what is asked for), flood (much for who
 * reads nothing), threads (from other threads), suite (echo of what a conformance suite sends). Each end is logged: `websocket ended CODE REASON`.
 */

static struct mk_ws_group *group_of(const struct mk_ws *ws);

static void on_close(struct mk_ws *ws, unsigned code, struct mk_str reason)
{
    mk_server_log(mk_worker_server(mk_ws_worker(ws)), MK_LOG_WARN, "websocket ended %u %.*s", code,
                  (int)reason.len, reason.p);
}

static void echo(struct mk_ws *ws, enum mk_ws_kind kind, struct mk_str message)
{
    (void)mk_ws_send(ws, kind, message);
}

/* "last" follows the last piece, so that a client sees that there were pieces. */
static void echo_piece(struct mk_ws *ws, enum mk_ws_kind kind, struct mk_str piece, bool is_last)
{
    if (piece.len > 0)
        (void)mk_ws_send(ws, kind, piece);
    if (is_last)
        (void)mk_ws_send(ws, MK_WS_TEXT, MK_STR("last"));
}

static void join(struct mk_ws *ws)
{
    if (mk_ws_group_join(group_of(ws), ws) < 0)
        mk_ws_close(ws, MK_WS_INTERNAL, MK_STR("no memory"));
    (void)mk_ws_send(ws, MK_WS_TEXT, MK_STR("joined"));
}

static void broadcast(struct mk_ws *ws, enum mk_ws_kind kind, struct mk_str message)
{
    if (message.len == 5 && memcmp(message.p, "leave", 5) == 0)
        mk_ws_group_leave(group_of(ws), ws);
    else
        (void)mk_ws_group_send(group_of(ws), kind, message);
}

/* The message is "CODE REASON". */
static void close_as_asked(struct mk_ws *ws, enum mk_ws_kind kind, struct mk_str message)
{
    char code[5] = ""; /* a message is not terminated */

    (void)kind;
    if (message.len < sizeof(code))
        return;
    memcpy(code, message.p, sizeof(code) - 1);
    mk_ws_close(ws, (unsigned)atoi(code),
                (struct mk_str){message.p + sizeof(code), message.len - sizeof(code)});
}

static void flood(struct mk_ws *ws, enum mk_ws_kind kind, struct mk_str message)
{
    char text[64 << 10];

    (void)message;
    memset(text, 'x', sizeof(text));
    for (unsigned i = 0; i < 1000; i++) {
        (void)snprintf(text, 8, "%07u", i);
        (void)mk_ws_send(ws, kind, (struct mk_str){text, sizeof(text)});
    }
}

/* Ends when the connection has: a handle is all that it has. */
static void *send_on(void *arg)
{
    struct mk_ws_handle *h = arg;
    char text[16];

    for (unsigned i = 0; i < 1000; i++) {
        const int len = snprintf(text, sizeof(text), "%u", i);

        if (mk_ws_handle_send(h, MK_WS_TEXT, (struct mk_str){text, (size_t)len}) < 0)
            break;
    }
    (void)mk_ws_handle_close(h, 4000);
    mk_ws_handle_put(h);
    return NULL;
}

static void start_thread(struct mk_ws *ws)
{
    struct mk_ws_handle *h = mk_ws_handle(ws);
    pthread_t thread;

    if (h && pthread_create(&thread, NULL, send_on, h) == 0)
        (void)pthread_detach(thread);
    else
        mk_ws_handle_put(h);
}

static const struct {
    const char *name;
    struct mk_ws_spec spec;
} kinds[] = {
    {"echo",
     {.size = sizeof(struct mk_ws_spec),
      .on_message = echo,
      .on_close = on_close,
      .protocols = "best good"}},
    {"pieces", {.size = sizeof(struct mk_ws_spec), .on_piece = echo_piece, .on_close = on_close}},
    {"group",
     {.size = sizeof(struct mk_ws_spec),
      .on_open = join,
      .on_message = broadcast,
      .on_close = on_close}},
    {"crowd", /* whose clients need not answer pings while the others open */
     {.size = sizeof(struct mk_ws_spec),
      .on_open = join,
      .on_message = broadcast,
      .ping_ms = MK_WS_NEVER}},
    {"packed",
     {.size = sizeof(struct mk_ws_spec),
      .on_message = echo,
      .on_close = on_close,
      .deflate = MK_WS_DEFLATE}},
    {"kept",
     {.size = sizeof(struct mk_ws_spec),
      .on_message = echo,
      .on_close = on_close,
      .deflate = MK_WS_DEFLATE_KEEP}},
    {"suite", /* it sends messages of 16 MB, and many before it reads */
     {.size = sizeof(struct mk_ws_spec),
      .on_message = echo,
      .max_frame = 32 << 20,
      .max_message = 32 << 20,
      .max_queue = 64 << 20,
      .deflate = MK_WS_DEFLATE_KEEP}},
    {"packed-group",
     {.size = sizeof(struct mk_ws_spec),
      .on_open = join,
      .on_message = broadcast,
      .on_close = on_close,
      .deflate = MK_WS_DEFLATE}},
    {"kept-group",
     {.size = sizeof(struct mk_ws_spec),
      .on_open = join,
      .on_message = broadcast,
      .on_close = on_close,
      .deflate = MK_WS_DEFLATE_KEEP}},
    {"packed-pieces",
     {.size = sizeof(struct mk_ws_spec),
      .on_piece = echo_piece,
      .on_close = on_close,
      .deflate = MK_WS_DEFLATE,
      .deflate_min = 1}},
    {"packed-old",
     {.size = sizeof(struct mk_ws_spec),
      .on_message = flood,
      .on_close = on_close,
      .policy = MK_WS_DROP_OLD,
      .deflate = MK_WS_DEFLATE_KEEP}},
    {"close",
     {.size = sizeof(struct mk_ws_spec),
      .on_message = close_as_asked,
      .on_close = on_close,
      .close_ms = 500}},
    {"flood",
     {.size = sizeof(struct mk_ws_spec),
      .on_message = flood,
      .on_close = on_close,
      .close_ms = 500}},
    {"new",
     {.size = sizeof(struct mk_ws_spec),
      .on_message = flood,
      .on_close = on_close,
      .policy = MK_WS_DROP_NEW}},
    {"old",
     {.size = sizeof(struct mk_ws_spec),
      .on_message = flood,
      .on_close = on_close,
      .policy = MK_WS_DROP_OLD}},
    {"threads", {.size = sizeof(struct mk_ws_spec), .on_open = start_thread, .on_close = on_close}},
    {"small",
     {.size = sizeof(struct mk_ws_spec),
      .on_message = echo,
      .on_close = on_close,
      .max_frame = 100,
      .max_message = 150}},
    {"pings",
     {.size = sizeof(struct mk_ws_spec),
      .on_message = echo,
      .on_close = on_close,
      .ping_ms = 200,
      .pong_ms = 1000}},
};

struct hall {
    struct mk_ws_group *group;
};

static struct mk_ws_group *group_of(const struct mk_ws *ws)
{
    return mk_ws_data(ws); /* its members hold it, whatever a reload does */
}

static int check(struct mk_setup *setup)
{
    struct hall *hall = mk_setup_alloc(setup, sizeof(*hall));

    if (!hall)
        return MK_E_NOMEM;
    hall->group = NULL;
    mk_setup_keep(setup, hall);
    return 0;
}

static int start(const struct mk_context *ctx, const struct mk_context *old)
{
    struct hall *hall = ctx->config;

    (void)old;
    hall->group = mk_ws_group_new(ctx->server);
    return hall->group ? 0 : MK_E_NOMEM;
}

static void stop(const struct mk_context *ctx)
{
    mk_ws_group_free(((struct hall *)ctx->config)->group);
}

static int check_match(struct mk_setup *setup, const struct mk_setting *line,
                       const struct mk_words *parameters, void **data)
{
    size_t *kind = mk_setup_alloc(setup, sizeof(*kind));

    (void)line;
    if (!kind)
        return MK_E_NOMEM;
    for (*kind = 0; *kind + 1 < sizeof(kinds) / sizeof(kinds[0]); (*kind)++)
        if (parameters->count > 0 && strcmp(parameters->items[0].p, kinds[*kind].name) == 0)
            break;
    *data = kind;
    return 0;
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    const size_t *kind = data;

    const struct hall *hall = ctx->config;

    return mk_ws_accept(r, &kinds[*kind].spec, hall->group, NULL);
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("sockets", "for the tests of WebSocket"),
    .check = check,
    .check_match = check_match,
    .start = start,
    .stop = stop,
    .on_handle = on_handle,
};
MK_PLUGIN_EXPORT(plugin);
