/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <stdlib.h>

/* ---- settings ---- */

static const struct mk_field fields[] = {
    {.name = "Backend",
     .type = MK_FIELD_STRING,
     .offset = offsetof(struct probe_settings, backend),
     .fallback = "127.0.0.1"},
    {.name = "Port",
     .type = MK_FIELD_INT,
     .min = 1,
     .max = 65535,
     .offset = offsetof(struct probe_settings, port),
     .fallback = "1"},
    {.name = "Connections",
     .type = MK_FIELD_INT,
     .min = 1,
     .max = 100,
     .offset = offsetof(struct probe_settings, connections),
     .fallback = "4"},
    {.name = "BackendTimeout",
     .type = MK_FIELD_TIME,
     .min = 100,
     .max = 60000,
     .offset = offsetof(struct probe_settings, backend_ms),
     .fallback = "10s"},
    {.name = "TurnAway",
     .type = MK_FIELD_WORDS,
     .offset = offsetof(struct probe_settings, turned_away)},
};
static const struct mk_section_spec section =
    MK_SECTION("PROBE", MK_SECTION_FILE, struct probe_settings, fields);
static const struct mk_section_spec *const sections[] = {&section, &service_section, NULL};

static int check(struct mk_setup *setup)
{
    struct probe *probe = mk_setup_alloc(setup, sizeof(*probe));

    if (!probe || !(probe->listed = names_list(setup)))
        return MK_E_NOMEM;
    probe->settings = mk_setup_section(setup, &section, NULL);
    mk_setup_keep(setup, probe);
    return 0;
}

/* Its filter acts on sites without [SERVICE] too. */
static int check_site(struct mk_setup *setup)
{
    const struct probe *probe = mk_setup_config(setup);
    int err = names_of_site(setup, probe->listed);

    mk_setup_act(setup, MK_ACTS_HEAD);
    return err < 0 ? err : service_check_site(setup);
}

/* ---- `Match REGEX probe NAME` ---- */

static const struct probe_route routes[] = {
    {"proxy", proxy_handle}, {"cgi", cgi_handle},         {"bell", bell_handle},
    {"wake", wake_handle},   {"listen", chat_listen},     {"say", chat_say},
    {"parts", parts_handle}, {"patient", patient_handle}, {"never", never_handle},
    {"stale", stale_handle}, {"dry", dry_handle},         {"filtered", filtered_handle},
    {"busy", busy_handle},   {"echo", echo_handle},
};

static int check_match(struct mk_setup *setup, const struct mk_setting *line,
                       const struct mk_words *parameters, void **data)
{
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        if (parameters->count == 1 && strcmp(parameters->items[0].p, routes[i].name) == 0) {
            *data = (void *)(uintptr_t)&routes[i];
            return 0;
        }
    }
    return mk_setup_refuse(setup, line, "the name of an application");
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    const struct probe_route *route = data;

    return route->handle(r, ctx, route);
}

/* ---- life ---- */

static void stop(const struct mk_context *ctx)
{
    struct probe *probe = ctx->config;

    mk_upstream_free(probe->backend);
    if (probe->bell)
        bell_free(probe->bell);
    if (probe->room)
        room_put(probe->room);
    names_put(probe->names);
}

static int start(const struct mk_context *ctx, const struct mk_context *old)
{
    struct probe *probe = ctx->config;
    const struct mk_upstream_options options = {
        .size = sizeof(options),
        .host = probe->settings->backend,
        .port = (unsigned)probe->settings->port,
        .max_connections = (unsigned)probe->settings->connections,
        .max_idle = 4,
        .max_waiting = 64,
        .connect_ms = 2000,
        .idle_ms = 10000,
        .queue_ms = 5000,
    };

    (void)old;
    probe->backend = mk_upstream_new(ctx->server, &options);
    probe->bell = bell_new(ctx->server);
    probe->room = room_new(ctx->server);
    probe->names = names_copy(probe->listed);
    if (probe->backend && probe->bell && probe->room && probe->names)
        return 0;
    stop(ctx);
    return MK_E_NOMEM;
}

static int worker_start(const struct mk_context *ctx, void **local)
{
    const struct probe *probe = ctx->config;
    struct probe_worker *w = calloc(1, sizeof(*w));

    if (!w || room_open(probe->room, ctx->worker) < 0) {
        free(w);
        return MK_E_NOMEM;
    }
    w->index = mk_worker_index(ctx->worker);
    *local = w;
    return 0;
}

static void worker_stop(const struct mk_context *ctx)
{
    const struct probe *probe = ctx->config;

    room_close(probe->room, ctx->worker);
    free(ctx->local);
}

/* ---- rules for addresses ---- */

static enum mk_verdict on_accept(struct mk_conn *c, const struct mk_context *ctx)
{
    const struct probe *probe = ctx->config;
    const struct mk_words *away = &probe->settings->turned_away;
    char peer[MK_PEER_TEXT];

    (void)mk_conn_peer(c, peer);
    for (size_t i = 0; i < away->count; i++) {
        if (strcmp(peer, away->items[i].p) == 0)
            return MK_VERDICT_CLOSE;
    }
    return MK_VERDICT_PASS;
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("probe", "small applications for the tests"),
    .sections = sections,
    .check = check,
    .check_site = check_site,
    .check_match = check_match,
    .start = start,
    .stop = stop,
    .worker_start = worker_start,
    .worker_stop = worker_stop,
    .on_accept = on_accept,
    .on_handle = on_handle,
    .on_head = misbehave_on_head,
    .transport = &names_transport,
};
MK_PLUGIN_EXPORT(plugin);
