/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/client/http_servers.h"

#include <monkey/events.h>

#include <stdlib.h>
#include <string.h>

static void free_server(struct http_server *s)
{
    mk_upstream_free(s->upstream);
    free(s);
}

static struct mk_upstream *connect_to(struct mk_worker *w, const char *transport,
                                      const struct http_url *url)
{
    char host[HTTP_HOST_MAX + 1];
    const struct mk_upstream_options options = {
        .size = sizeof(options),
        .host = host,
        .port = url->port,
        .transport = transport,
        .name = transport ? host : NULL,
        .max_connections = HTTP_CONNECTIONS_MAX,
        .max_idle = HTTP_IDLE_MAX,
        .max_waiting = UINT16_MAX, /* bound by the calls */
        .connect_ms = HTTP_CONNECT_MS,
        .idle_ms = HTTP_IDLE_MS,
    };

    memcpy(host, url->host.p, url->host.len);
    host[url->host.len] = '\0';
    return mk_upstream_new(mk_worker_server(w), &options);
}

static struct http_server *new_server(struct mk_worker *w, const char *transport,
                                      const struct http_url *url)
{
    struct http_server *s = malloc(sizeof(*s) + url->origin.len);

    if (!s)
        return NULL;
    memcpy(s->origin, url->origin.p, url->origin.len);
    s->users = 0;
    s->upstream = connect_to(w, transport, url);
    if (s->upstream && http_url_read(&s->at, (struct mk_str){s->origin, url->origin.len}))
        return s;
    free_server(s);
    return NULL;
}

static struct http_server *find(const struct http_servers *all, const struct http_url *url)
{
    for (unsigned i = 0; i < all->count; i++) {
        if (http_url_is_same_origin(&all->items[i]->at, url))
            return all->items[i];
    }
    return NULL;
}

/* Of those that no call uses, the one used last the longest ago goes. @return where there is room; NULL */
static struct http_server **make_room(struct http_servers *all)
{
    struct http_server **oldest = NULL;
    uint64_t used = UINT64_MAX;

    if (all->count < HTTP_SERVERS_MAX)
        return &all->items[all->count++];
    for (unsigned i = 0; i < all->count; i++) {
        const struct http_server *s = all->items[i];

        if (!s || s->users > 0 || s->used >= used)
            continue;
        oldest = &all->items[i];
        used = s->used;
    }
    if (oldest)
        free_server(*oldest);
    return oldest;
}

static int add(struct http_servers *all, struct http_server *s)
{
    struct http_server **place = make_room(all);

    if (!place) {
        free_server(s);
        return MK_E_BUSY;
    }
    *place = s;
    return 0;
}

int http_servers_get(struct http_servers *all, struct mk_worker *w, const char *tls,
                     const struct http_url *url, struct http_server **server)
{
    struct http_server *s = find(all, url);
    int err;

    if (url->is_secure && !tls)
        return MK_E_UNSUPPORTED;
    if (!s) {
        s = new_server(w, url->is_secure ? tls : NULL, url);
        err = s ? add(all, s) : MK_E_NOMEM;
        if (err < 0)
            return err;
    }
    s->users++;
    s->used = ++all->clock;
    *server = s;
    return 0;
}

void http_servers_put(struct http_server *server)
{
    if (server)
        server->users--;
}

void http_servers_fini(struct http_servers *all)
{
    while (all->count > 0)
        free_server(all->items[--all->count]);
}
