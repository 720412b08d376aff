/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/backend_int.h"

#include "backends/balance.h"

#include "kit/backends/pool.h"

#include <stdlib.h>

/* ---- what was learnt ---- */

static struct proxy_state *state_new(void)
{
    struct proxy_state *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    counted_init(&s->refs, 1);
    if (proxy_health_guard_init(&s->health) == 0)
        return s;
    free(s);
    return NULL;
}

static struct proxy_state *state_get(struct proxy_state *s)
{
    counted_get(&s->refs);
    return s;
}

static void state_put(struct proxy_state *s)
{
    if (!s || !counted_put(&s->refs))
        return;
    proxy_health_guard_fini(&s->health);
    free(s);
}

/* ---- backends ---- */

struct proxy_backend *proxy_backend_get(struct proxy_backend *b)
{
    counted_get(&b->refs);
    return b;
}

void proxy_backend_put(struct proxy_backend *b)
{
    if (!b || !counted_put(&b->refs))
        return;
    state_put(b->state);
    backend_pool_put(b->pool);
    free(b->texts);
    free(b);
}

struct mk_upstream *proxy_backend_upstream(const struct proxy_backend *b)
{
    return b->pool->upstream;
}

static const struct proxy_entry *find_entry(const struct proxy_config *config, const char *name)
{
    const struct proxy_entry *e = config->entries;

    while (e && strcmp(e->name, name) != 0)
        e = e->next;
    return e;
}

static struct proxy_backend *find_server(const struct proxy_group *g, const char *server)
{
    for (unsigned i = 0; g && i < g->n; i++) {
        if (strcmp(g->backends[i]->name, server) == 0)
            return g->backends[i];
    }
    return NULL;
}

/* A backend in the configuration before: of the same entry, or of one whose name has gone, as that of an entry
 * without Name does when its first server does. */
static struct proxy_backend *find_old(const struct proxy_config *old,
                                      const struct proxy_config *config, const char *entry,
                                      const char *server)
{
    struct proxy_backend *found = NULL;

    for (const struct proxy_entry *e = old ? old->entries : NULL; e && !found; e = e->next) {
        if (strcmp(e->name, entry) == 0)
            found = find_server(e->group, server);
    }
    for (const struct proxy_entry *e = old ? old->entries : NULL; e && !found; e = e->next) {
        if (!find_entry(config, e->name))
            found = find_server(e->group, server);
    }
    return found;
}

static struct health_rules rules_of(const struct proxy_settings *set)
{
    return (struct health_rules){
        .attempts = (unsigned)set->attempts,
        .window_ms = (unsigned)(set->window_ms ? set->window_ms : set->offline_ms),
        .offline_ms = (unsigned)set->offline_ms,
        .slow_ms = (unsigned)set->slow_start_ms,
        .is_checked = set->check_path != NULL,
        .is_alone = set->nservers == 1 && !set->offline_single,
    };
}

static char *put_text(char **room, struct mk_str text)
{
    char *copy = *room;

    memcpy(copy, text.p, text.len);
    copy[text.len] = '\0';
    *room += text.len + 1;
    return copy;
}

/* Copies, since attempts may outlive the configuration. */
static bool copy_texts(struct proxy_backend *b, const struct proxy_entry *e,
                       const struct proxy_server *server)
{
    size_t len =
        strlen(e->name) + strlen(server->name) + strlen(server->host) + server->authority.len + 4;
    char *room = b->texts = malloc(len);

    if (!room)
        return false;
    b->entry = put_text(&room, mk_str_from(e->name));
    b->name = put_text(&room, mk_str_from(server->name));
    b->host = put_text(&room, mk_str_from(server->host));
    b->authority = (struct mk_str){put_text(&room, server->authority), server->authority.len};
    return true;
}

static const char *sticky_key(const struct proxy_config *config, const struct proxy_entry *e)
{
    return e->set->sticky_key ? e->set->sticky_key : config->sticky_key;
}

/* Bytes as they are, which is what no transport means. */
static bool is_plain(const char *transport)
{
    return transport && strcasecmp(transport, "liana") == 0;
}

static struct mk_upstream_options connections_of(const struct proxy_settings *set,
                                                 const struct proxy_server *server)
{
    return (struct mk_upstream_options){
        .size = sizeof(struct mk_upstream_options),
        .host = server->host,
        .port = server->port,
        .transport = is_plain(set->transport) ? NULL : set->transport,
        .name = set->server_name ? set->server_name : server->host,
        .max_connections = (unsigned)set->max_connections,
        .max_idle = (unsigned)set->keep_alive,
        .max_waiting = (unsigned)set->queue,
        .connect_ms = (unsigned)set->connect_ms,
        .idle_ms = (unsigned)set->idle_ms,
        .queue_ms = (unsigned)set->queue_ms,
        .protocol = set->is_h2 && set->is_secure ? "h2" : NULL,
    };
}

static bool fill_backend(struct proxy_backend *b, const struct proxy_entry *e,
                         const struct proxy_server *server, const struct proxy_backend *old)
{
    struct mk_upstream_options options = connections_of(e->set, server);

    b->state = old ? state_get(old->state) : state_new();
    if (old && backend_pool_is(old->pool, &options))
        b->pool = backend_pool_get(old->pool);
    else
        b->pool = backend_pool_new(b->server, &options);
    return b->state && b->pool && copy_texts(b, e, server);
}

static struct proxy_backend *backend_new(struct mk_server *server, const struct proxy_entry *e,
                                         const struct proxy_server *like,
                                         const struct proxy_backend *old)
{
    struct proxy_backend *b = calloc(1, sizeof(*b));

    if (!b)
        return NULL;
    counted_init(&b->refs, 1);
    b->server = server;
    b->port = like->port;
    b->rules = rules_of(e->set);
    b->check_ms = e->set->check_ms;
    b->retry_on = e->set->retry_on;
    if (fill_backend(b, e, like, old))
        return b;
    proxy_backend_put(b);
    return NULL;
}

/* ---- groups ---- */

static void group_free(struct proxy_group *g)
{
    for (unsigned i = 0; g && i < g->n; i++)
        proxy_backend_put(g->backends[i]);
    if (g)
        proxy_balance_free(g->balance);
    free(g);
}

/* A seat for each time that a server was written: one each in the order of the list, then seconds, and so on. */
static unsigned seat_all(const struct proxy_settings *set, uint16_t *order)
{
    unsigned n = 0;

    for (unsigned round = 0; n < set->weights; round++) {
        for (size_t i = 0; i < set->nservers; i++) {
            if (set->servers[i].weight > round)
                order[n++] = (uint16_t)i;
        }
    }
    return n;
}

static struct balance *balance_of(const struct proxy_group *g)
{
    struct balance_backend backends[PROXY_SERVERS_MAX];
    uint16_t order[PROXY_SEATS_MAX];

    for (unsigned i = 0; i < g->n; i++)
        backends[i] = (struct balance_backend){
            .name = mk_str_from(g->backends[i]->name),
            .seats = g->set->servers[i].weight,
            .active = &g->backends[i]->state->active,
        };
    return proxy_balance_new((enum proxy_balancer)g->set->balancer, backends, g->n, order,
                             seat_all(g->set, order));
}

static struct proxy_group *group_new(const struct mk_context *ctx, const struct proxy_entry *e,
                                     const struct proxy_config *old)
{
    struct proxy_group *g =
        calloc(1, sizeof(*g) + e->set->nservers * sizeof(struct proxy_backend *));

    if (!g)
        return NULL;
    g->set = e->set;
    g->nmain = (unsigned)e->set->nmain;
    for (size_t i = 0; i < e->set->nservers; i++) {
        const struct proxy_server *server = &e->set->servers[i];

        g->backends[i] =
            backend_new(ctx->server, e, server, find_old(old, ctx->config, e->name, server->name));
        if (!g->backends[i])
            goto free_group;
        g->n++;
        if (e->set->sticky.len > 0)
            proxy_sticky_write(g->backends[i]->sticky, sticky_key(ctx->config, e), server->name);
    }
    g->balance = balance_of(g);
    if (g->balance)
        return g;
free_group:
    group_free(g);
    return NULL;
}

/* What cookies name goes on, over reloads. */
static bool take_sticky_key(struct proxy_config *config, const struct proxy_config *old)
{
    if (!old)
        return random_text(config->sticky_key);
    memcpy(config->sticky_key, old->sticky_key, sizeof(config->sticky_key));
    return true;
}

int proxy_backends_start(const struct mk_context *ctx, const struct proxy_config *old)
{
    struct proxy_config *config = ctx->config;

    if (!take_sticky_key(config, old)) {
        mk_plugin_why(ctx, "the kernel gives no random bytes");
        return MK_E_SYS;
    }
    if (proxy_reign_begin(config, old) < 0) {
        mk_plugin_why(ctx, "no memory");
        return MK_E_NOMEM;
    }
    for (struct proxy_entry *e = config->entries; e; e = e->next) {
        e->group = group_new(ctx, e, old);
        if (!e->group) {
            mk_plugin_why(ctx, "no memory for the backends of %s", e->name);
            proxy_backends_stop(config);
            return MK_E_NOMEM;
        }
    }
    return 0;
}

void proxy_backends_stop(struct proxy_config *config)
{
    for (struct proxy_entry *e = config->entries; e; e = e->next) {
        group_free(e->group);
        e->group = NULL;
    }
    proxy_reign_end(config);
}
