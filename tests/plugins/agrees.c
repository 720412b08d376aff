/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/plugin.h>
#include <monkey/upstream.h>

#include <stdlib.h>

/*
 * `Match REGEX agrees PORT TRANSPORT [PROTOCOL]`: take a connection to 127.0.0.1:PORT, named backend.test, whose TLS
 * agrees to the protocol, and answer "agreed"; or 502 with the reason. The connection is kept.
 */

enum { BACKENDS_MAX = 8, CONNECT_MS = 3000 };

struct backend {
    struct mk_upstream_options options;
    struct mk_upstream *upstream;
};

struct all {
    struct backend backends[BACKENDS_MAX];
    size_t count;
};

struct errand {
    struct mk_worker *worker;
    struct mk_upstream *upstream;
    struct mk_upstream_wait *wait;
    uint64_t ticket;
};

static void on_end(void *arg)
{
    struct errand *e = arg;

    if (e->wait)
        mk_upstream_cancel(e->wait);
}

static void on_taken(void *arg, struct mk_stream *s, bool fresh, int error)
{
    struct errand *e = arg;
    struct mk_request *r = mk_worker_request(e->worker, e->ticket);
    char why[256] = "agreed";

    (void)fresh;
    e->wait = NULL;
    if (s)
        mk_upstream_give(e->upstream, s, true);
    else
        mk_upstream_why(e->upstream, e->worker, error, why, sizeof(why));
    (void)mk_reply_bytes(r, s ? 200 : 502, "text/plain", mk_str_from(why));
    mk_request_resume(r);
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    const struct backend *backend = data;
    struct errand *e = mk_request_alloc(r, sizeof(*e));

    if (!e)
        return MK_VERDICT_CLOSE;
    *e = (struct errand){
        .worker = ctx->worker, .upstream = backend->upstream, .ticket = mk_request_ticket(r)};
    if (mk_request_on_end(r, on_end, e) < 0 ||
        mk_upstream_take(e->upstream, e->worker, false, on_taken, e, &e->wait) < 0)
        return MK_VERDICT_CLOSE;
    return MK_VERDICT_LATER;
}

/* ---- its life ---- */

static int check(struct mk_setup *setup)
{
    struct all *all = mk_setup_alloc(setup, sizeof(*all));

    if (!all)
        return MK_E_NOMEM;
    *all = (struct all){.count = 0};
    mk_setup_keep(setup, all);
    return 0;
}

static int check_match(struct mk_setup *setup, const struct mk_setting *line,
                       const struct mk_words *parameters, void **data)
{
    struct all *all = mk_setup_config(setup);
    struct backend *backend = &all->backends[all->count];

    if (all->count == BACKENDS_MAX || parameters->count < 2)
        return mk_setup_refuse(setup, line, "a port, a transport and a protocol");
    all->count++;
    *backend = (struct backend){.options = {.size = sizeof(backend->options),
                                            .host = "127.0.0.1",
                                            .port = (unsigned)atoi(parameters->items[0].p),
                                            .transport = parameters->items[1].p,
                                            .name = "backend.test",
                                            .max_idle = 1,
                                            .connect_ms = CONNECT_MS}};
    if (parameters->count > 2)
        backend->options.protocol = parameters->items[2].p;
    *data = backend;
    return 0;
}

static void stop(const struct mk_context *ctx)
{
    struct all *all = ctx->config;

    for (size_t i = 0; i < all->count; i++)
        mk_upstream_free(all->backends[i].upstream);
}

static int start(const struct mk_context *ctx, const struct mk_context *old)
{
    struct all *all = ctx->config;

    (void)old;
    for (size_t i = 0; i < all->count; i++) {
        struct backend *backend = &all->backends[i];

        backend->upstream = mk_upstream_new(ctx->server, &backend->options);
        if (backend->upstream)
            continue;
        stop(ctx);
        return MK_E_NOMEM;
    }
    return 0;
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("agrees", "for the tests of ALPN towards backends"),
    .check = check,
    .check_match = check_match,
    .start = start,
    .stop = stop,
    .on_handle = on_handle,
};
MK_PLUGIN_EXPORT(plugin);
