/* SPDX-License-Identifier: Apache-2.0 */
#include "server/conn.h"
#include "server/server_int.h"

#include <monkey/request.h>

void mk_conn_facts(const struct mk_conn *c, struct mk_conn_facts *facts)
{
    struct mk_link_facts link = {.size = sizeof(link)};
    const struct mk_transport *transport = c->link.transport;
    size_t size = facts->size < sizeof(*facts) ? facts->size : sizeof(*facts);
    struct mk_conn_facts all = {
        .size = facts->size,
        .id = c->id,
        .worker = c->worker,
        .server = c->worker->server,
        .peer_port = c->peer.port,
        .peer_is_unix = c->peer.is_unix,
        .listen = c->listener->text,
        .transport = transport->name,
        .requests = c->requests,
    };

    if (transport->facts && (c->link.state || !transport->open)) /* stage 10 is before its begin */
        transport->facts(&c->link, &link);
    memcpy(all.peer_ip, c->peer.ip, sizeof(all.peer_ip));
    all.tls_version = link.tls_version;
    all.tls_cipher = link.tls_cipher;
    all.client_subject = link.client_subject;
    memcpy(facts, &all, size);
}

size_t mk_conn_peer(const struct mk_conn *c, char dst[MK_PEER_TEXT])
{
    char text[MK_ADDR_TEXT];
    size_t len = mk_peer_format(&c->peer, text);

    if (len >= MK_PEER_TEXT) /* no address is that long */
        len = MK_PEER_TEXT - 1;
    memcpy(dst, text, len);
    dst[len] = '\0';
    return len;
}
