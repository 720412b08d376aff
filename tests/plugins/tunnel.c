/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/plugin.h>
#include <monkey/stream.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>

/*
 * `Match REGEX tunnel PORT [TRANSPORT]`: upgrade the connection and join it to 127.0.0.1:PORT; without
 * parameters, to itself. Bytes wait in a buffer of each direction, so that a slow side slows the other.
 */

enum {
    ROOM = 16384,
    CONNECT_MS = 3000,
    STAY_ON_HANGUP = 1, /* port of an echo that does not leave when the server stops */
};

struct route {
    uint16_t port; /* 0: echo */
    const char *transport;
};

/* One direction. */
struct flow {
    struct mk_stream **from, **to;
    size_t at, len;
    bool ended, passed_on; /* the end of its input */
    char bytes[ROOM];
};

struct tunnel {
    struct mk_stream *client, *backend; /* an echo has no backend */
    uint64_t ticket;                    /* of the request, until it was answered */
    struct mk_worker *worker;
    bool stays;
    struct flow up, down;
};

static void end(struct tunnel *t)
{
    mk_stream_close(t->client);
    mk_stream_close(t->backend);
    free(t);
}

/* @return whether it is still of use. */
static bool drain(struct flow *f)
{
    while (f->len > 0) {
        const struct iovec part = {f->bytes + f->at, f->len};
        ssize_t n = mk_stream_write(*f->to, &part, 1);

        if (n < 0)
            return n == MK_E_AGAIN;
        f->at += (size_t)n;
        f->len -= (size_t)n;
    }
    if (f->ended && !f->passed_on)
        mk_stream_shutdown(*f->to);
    f->passed_on = f->ended;
    return true;
}

/* @return whether it is still of use. */
static bool flow(struct flow *f)
{
    if (!drain(f))
        return false;
    while (f->len == 0 && !f->ended) {
        ssize_t n = mk_stream_read(*f->from, f->bytes, ROOM);

        if (n < 0)
            return n == MK_E_AGAIN;
        f->ended = n == 0;
        f->at = 0;
        f->len = (size_t)n;
        if (!drain(f))
            return false;
    }
    return true;
}

static void run(struct tunnel *t)
{
    bool is_echo = !t->backend;

    if (!flow(&t->up) || (!is_echo && !flow(&t->down)) ||
        (t->up.passed_on && (is_echo || t->down.passed_on)))
        end(t);
}

static void on_client(struct mk_stream *s, unsigned events, void *arg)
{
    struct tunnel *t = arg;

    (void)s;
    if (events & (MK_IO_ERROR | MK_IO_TIMEOUT))
        end(t);
    else if (events == MK_IO_HANGUP && !t->stays) /* the server stops */
        end(t);
    else
        run(t);
}

static enum mk_verdict join(struct tunnel *t, struct mk_request *r)
{
    struct mk_reply p;

    if (mk_reply_begin(&p, r, 101) < 0)
        return MK_VERDICT_CLOSE;
    mk_reply_line(&p, MK_STR("Connection"), MK_STR("Upgrade"));
    mk_reply_line(&p, MK_STR("Upgrade"), MK_STR("tunnel"));
    if (mk_reply_end(&p, 0) < 0 || mk_request_take(r, &t->client, on_client, t) < 0)
        return MK_VERDICT_CLOSE;
    return MK_VERDICT_DONE;
}

static void on_backend(struct mk_stream *s, unsigned events, void *arg)
{
    struct tunnel *t = arg;
    struct mk_request *r;

    (void)s;
    if (t->client && (events & MK_IO_ERROR)) {
        end(t);
    } else if (t->client) {
        run(t);
    } else if ((r = mk_worker_request(t->worker, t->ticket)) != NULL) {
        if (events & (MK_IO_ERROR | MK_IO_TIMEOUT))
            (void)mk_reply_error(r, 502, NULL);
        else if (join(t, r) != MK_VERDICT_DONE)
            mk_reply_abort(r);
        mk_request_resume(r);
    }
}

/* The request is over: with its answer, or because the client left first. */
static void on_end(void *arg)
{
    struct tunnel *t = arg;

    t->ticket = 0;
    if (!t->client)
        end(t);
}

static int dial(struct tunnel *t, const struct route *route)
{
    const struct sockaddr_in addr = {.sin_family = AF_INET,
                                     .sin_port = htons(route->port),
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct mk_dial d = {.size = sizeof(d),
                              .addr = (const struct sockaddr *)(const void *)&addr,
                              .addr_len = sizeof(addr),
                              .transport = route->transport,
                              .timeout_ms = CONNECT_MS};

    return mk_stream_dial(&t->backend, t->worker, &d, on_backend, t);
}

static struct tunnel *begin(struct mk_request *r, const struct mk_context *ctx)
{
    struct tunnel *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    t->worker = ctx->worker;
    t->up.from = t->up.to = t->down.to = &t->client;
    t->down.from = &t->backend;
    t->ticket = mk_request_ticket(r);
    if (t->ticket == 0 || mk_request_on_end(r, on_end, t) < 0) {
        free(t);
        return NULL;
    }
    return t;
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    const struct route *route = data;
    struct tunnel *t = begin(r, ctx);

    if (!t)
        return MK_VERDICT_CLOSE;
    t->stays = route->port == STAY_ON_HANGUP;
    if (route->port <= STAY_ON_HANGUP)
        return join(t, r);
    t->up.to = &t->backend;
    return dial(t, route) < 0 ? mk_reply_error(r, 502, NULL) : MK_VERDICT_LATER;
}

static int check_match(struct mk_setup *setup, const struct mk_setting *line,
                       const struct mk_words *parameters, void **data)
{
    struct route *route = mk_setup_alloc(setup, sizeof(*route));

    (void)line;
    if (!route)
        return MK_E_NOMEM;
    *route = (struct route){.port = 0};
    if (parameters->count > 0)
        route->port = (uint16_t)atoi(parameters->items[0].p);
    if (parameters->count > 1)
        route->transport = parameters->items[1].p;
    *data = route;
    return 0;
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("tunnel", "for the tests of streams"),
    .check_match = check_match,
    .on_handle = on_handle,
};
MK_PLUGIN_EXPORT(plugin);
