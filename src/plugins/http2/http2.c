/* SPDX-License-Identifier: Apache-2.0 */
#include "conn.h"

#include <monkey/plugin.h>

/* HTTP/2 (RFC 9113): frames and field compression are kit/h2's, requests are the server's. */

static const struct mk_field fields[] = {
    {.name = "MaxConcurrentStreams",
     .type = MK_FIELD_INT,
     .offset = offsetof(struct http2_settings, max_streams),
     .min = 1,
     .max = 10000,
     .fallback = "100"},
    {.name = "StreamWindow",
     .type = MK_FIELD_SIZE,
     .offset = offsetof(struct http2_settings, stream_window),
     .min = 1024,
     .max = 16 << 20,
     .fallback = "64K"},
    {.name = "ConnectionWindow",
     .type = MK_FIELD_SIZE,
     .offset = offsetof(struct http2_settings, connection_window),
     .min = 65536,
     .max = 64 << 20,
     .fallback = "16M"},
    {.name = "PingInterval",
     .type = MK_FIELD_TIME,
     .offset = offsetof(struct http2_settings, ping_ms),
     .max = 24LL * 3600 * 1000,
     .fallback = "0"},
};
static const struct mk_section_spec section =
    MK_SECTION("HTTP2", MK_SECTION_FILE, struct http2_settings, fields);
static const struct mk_section_spec *const sections[] = {&section, NULL};

static int check(struct mk_setup *setup)
{
    const struct http2_settings *set = mk_setup_section(setup, &section, NULL);

    if (set->stream_window > set->connection_window)
        mk_setup_fault(setup, mk_setup_place(setup, set, "StreamWindow"),
                       "StreamWindow: larger than ConnectionWindow");
    return 0;
}

static int start(const struct mk_context *ctx, const struct mk_context *old)
{
    struct http2_settings *set = ctx->config;
    const struct http2_settings *before = old ? old->config : NULL;

    set->counts = before && before->counts ? http2_counts_get(before->counts) : http2_counts_new();
    return set->counts ? 0 : MK_E_NOMEM;
}

static void stop(const struct mk_context *ctx)
{
    struct http2_settings *set = ctx->config;

    http2_counts_put(set->counts);
    set->counts = NULL;
}

static void tell_metrics(const struct mk_context *ctx, mk_metric_fn tell, void *arg)
{
    const struct http2_settings *set = ctx->config;

    http2_counts_tell(set->counts, tell, arg);
}

static int begin_worker(const struct mk_context *ctx, void **local)
{
    *local = http2_local_new(ctx->worker, ctx->config);
    return *local ? 0 : MK_E_NOMEM;
}

static void end_worker(const struct mk_context *ctx)
{
    http2_local_put(ctx->local);
}

static const struct mk_protocol protocol = {
    .size = sizeof(struct mk_protocol),
    .name = MK_STR_INIT("h2"),
    .preface = MK_STR_INIT(H2_PREFACE),
    .begin = http2_conn_begin,
};

static const struct mk_plugin plugin = {
    MK_PLUGIN("http2", "HTTP/2 for clients that choose it"),
    .sections = sections,
    .check = check,
    .start = start,
    .stop = stop,
    .worker_start = begin_worker,
    .worker_stop = end_worker,
    .protocol = &protocol,
    .metrics = tell_metrics,
};
MK_PLUGIN_EXPORT(plugin);
