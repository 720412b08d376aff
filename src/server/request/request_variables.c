/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "http/field.h"
#include "http/uri.h"
#include "server/request/request_state.h"
#include "setup/snapshot.h"

#include <monkey/notes.h>
#include <monkey/variables.h>

/* What the variables of settings stand for in a request: <monkey/variables.h>. */

/* RFC 9112 section 3.2: HTTP/1.0 needs no Host. Of a request that is refused it may be none. */
static struct mk_str host_of(const struct mk_request *r, bool is_with_port)
{
    const struct mk_words *names = &r->site->set.names;
    const struct mk_str authority = mk_request_authority(r);
    struct mk_str host;
    unsigned port;

    if (mk_uri_authority(authority, &host, &port) == 0 && host.len > 0)
        return is_with_port ? authority : host;
    return !is_with_port && names->count > 0 ? names->items[0] : MK_STR("");
}

/* RFC 9112 section 3.2: "http://a.test/x" asks for "/x". */
static struct mk_str target_of(const struct mk_request *r)
{
    const struct mk_h1_head *h = &r->head;
    struct mk_str target = mk_request_text(r, h->target);

    if (h->form == MK_TARGET_ABSOLUTE)
        target = mk_str_skip(target, h->authority.off + h->authority.len - h->target.off);
    return target;
}

/* Of "[::1]:80"; a path of a unix socket has none. */
static struct mk_str port_of(const struct mk_conn_facts *conn)
{
    const char *colon = conn->listen ? strrchr(conn->listen, ':') : NULL;

    return mk_str_from(colon && !strchr(colon, '/') ? colon + 1 : "");
}

static struct mk_str id_of(const struct mk_request *r)
{
    for (const struct mk_notes *list = mk_request_notes(r); list; list = list->next) {
        for (size_t i = 0; i < list->count; i++) {
            if (strcmp(list->notes[i].name, "request_id") == 0)
                return list->notes[i].text;
        }
    }
    return (struct mk_str){NULL, 0};
}

/* What somebody wrote into a certificate. */
static struct mk_str subject_of(const struct mk_conn_facts *conn)
{
    return mk_field_is_value(conn->client_subject) ? conn->client_subject
                                                   : (struct mk_str){NULL, 0};
}

struct mk_str mk_request_variable(const struct mk_request *r, int which,
                                  char room[MK_VARIABLE_ROOM])
{
    struct mk_conn_facts conn = {.size = sizeof(conn)};
    struct mk_str value = {NULL, 0};

    mk_conn_facts(r->conn, &conn);
    switch (which) {
    case MK_VARIABLE_PATH:
        value = r->path;
        break;
    case MK_VARIABLE_TARGET:
        value = target_of(r);
        break;
    case MK_VARIABLE_QUERY:
        value = mk_request_query(r);
        break;
    case MK_VARIABLE_HOST:
    case MK_VARIABLE_HTTP_HOST:
        value = host_of(r, which == MK_VARIABLE_HTTP_HOST);
        break;
    case MK_VARIABLE_SCHEME:
        value = r->is_secure ? MK_STR("https") : MK_STR("http");
        break;
    case MK_VARIABLE_REMOTE_ADDR:
        value = conn.peer_is_unix ? MK_STR("unknown")
                                  : (struct mk_str){room, mk_conn_peer(r->conn, room)};
        break;
    case MK_VARIABLE_REQUEST_ID:
        value = id_of(r);
        break;
    case MK_VARIABLE_REMOTE_PORT:
        if (conn.peer_port > 0)
            value = (struct mk_str){room, mk_u64_to_dec(room, conn.peer_port)};
        break;
    case MK_VARIABLE_TLS_VERSION:
        value = mk_str_from(conn.tls_version);
        break;
    case MK_VARIABLE_TLS_SUBJECT:
        value = subject_of(&conn);
        break;
    case MK_VARIABLE_SERVER_PORT:
        value = port_of(&conn);
        break;
    }
    return value;
}
