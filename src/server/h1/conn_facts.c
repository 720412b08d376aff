/* SPDX-License-Identifier: Apache-2.0 */
#include "server/h1/conn.h"
#include "server/h1/endpoint.h"
#include "server/worker/worker.h"

#include "server/request/request.h"

/* Of a request that no connection carries, which its worker asks about. */
static void fill_nothing(struct mk_conn_facts *facts)
{
    struct mk_worker *w = mk_worker_here();

    *facts = (struct mk_conn_facts){
        .size = facts->size,
        .worker = w,
        .server = w ? w->server : NULL,
        .peer_is_unix = true,
        .listen = "memory",
        .transport = "memory",
    };
}

static void fill_facts(struct mk_conn_facts *facts, const struct mk_conn *c)
{
    const struct mk_transport *transport = c->link.transport;

    facts->id = c->id;
    facts->worker = c->worker;
    facts->server = c->worker->server;
    memcpy(facts->peer_ip, c->peer.ip, sizeof(facts->peer_ip));
    facts->peer_port = c->peer.port;
    facts->peer_is_unix = c->peer.is_unix;
    facts->listen = c->endpoint->text;
    facts->transport = transport->name;
    facts->tls_version = facts->tls_cipher = NULL;
    facts->client_subject = (struct mk_str){NULL, 0};
    facts->requests = c->requests;
    if (transport->facts &&
        (c->link.state || !transport->open)) { /* stage 10 is before its begin */
        struct mk_link_facts link = {.size = sizeof(link)};

        transport->facts(&c->link, &link);
        facts->tls_version = link.tls_version;
        facts->tls_cipher = link.tls_cipher;
        facts->client_subject = link.client_subject;
    }
}

/* Every line of a log asks: only who was built with a shorter struct gets a copy. */
void mk_conn_facts(const struct mk_conn *c, struct mk_conn_facts *facts)
{
    struct mk_conn_facts all;

    if (c && facts->size >= sizeof(all)) {
        fill_facts(facts, c);
        return;
    }
    all.size = facts->size;
    if (c)
        fill_facts(&all, c);
    else
        fill_nothing(&all);
    memcpy(facts, &all, facts->size < sizeof(all) ? facts->size : sizeof(all));
}

const struct mk_link *mk_conn_link(const struct mk_conn *c)
{
    static const struct mk_link none = {.transport = &mk_transport_liana, .fd = -1};

    return c ? &c->link : &none;
}

void mk_conn_log(const struct mk_conn *c, enum mk_log_level level, const char *fmt, ...)
{
    char peer[MK_PEER_TEXT];
    va_list args;

    if (!c)
        return;
    va_start(args, fmt);
    (void)mk_conn_peer(c, peer);
    mk_log_of_plugin(c->worker, c->id, peer, level, fmt, args);
    va_end(args);
}

size_t mk_conn_peer(const struct mk_conn *c, char dst[MK_PEER_TEXT])
{
    char text[MK_ADDR_TEXT];
    static const struct mk_peer none = {.is_unix = true};
    size_t len = mk_peer_format(c ? &c->peer : &none, text);

    if (len >= MK_PEER_TEXT) /* no address is that long */
        len = MK_PEER_TEXT - 1;
    memcpy(dst, text, len);
    dst[len] = '\0';
    return len;
}
