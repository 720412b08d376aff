/* SPDX-License-Identifier: Apache-2.0 */
#include "data/postgresql/pg.h"

#include <monkey/upstream.h>

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Connections to servers by name. libpq gets the addresses beside the name, tries one after the other, and compares the name with
 * the server's certificate. A silent address takes all of the time limit, so after each attempt in vain the next one begins with
 * another address.
 */

enum { ADDRESSES_MAX = 16, ADDRESS_MAX = 64, LISTS_MAX = ADDRESSES_MAX * (PG_NAME_MAX + 1) };

static const char no_address[] = "the name of the host has no address";

/* It cannot be taken back, so it may outlive its connection. */
struct pg_lookup {
    struct pg_named *conn; /* NULL: it has ended */
};

static struct pg_named *named_of(struct db_conn *conn)
{
    return (struct pg_named *)(void *)conn;
}

static void append(char *list, const char *text)
{
    const size_t len = strlen(list);

    (void)snprintf(list + len, LISTS_MAX - len, len > 0 ? ",%s" : "%s", text);
}

static void connect_to(struct pg_named *c, const struct mk_address *addresses, unsigned count)
{
    const unsigned first = atomic_load(&c->target->nfailed) % count;
    char hosts[LISTS_MAX] = "", places[LISTS_MAX] = "", text[ADDRESS_MAX];

    for (unsigned i = 0; i < count && i < ADDRESSES_MAX; i++) {
        const struct mk_address *at = &addresses[(first + i) % count];

        if (getnameinfo((const struct sockaddr *)&at->addr, at->len, text, sizeof(text), NULL, 0,
                        NI_NUMERICHOST) != 0)
            continue;
        append(hosts, c->target->name);
        append(places, text);
    }
    if (places[0]) /* else libpq would choose a socket */
        pg_connect_at(&c->base.base, c->target, hosts, places);
    else
        db_conn_lose(&c->base.base, no_address);
}

static void on_addresses(void *arg, const struct mk_address *addresses, int count)
{
    struct pg_lookup *lookup = arg;
    struct pg_named *c = lookup->conn;

    free(lookup);
    if (!c)
        return;
    c->lookup = NULL;
    if (c->base.base.state != DB_CONNECTING)
        return;
    if (count > 0)
        connect_to(c, addresses, (unsigned)count);
    else
        db_conn_lose(&c->base.base, count == MK_E_NOMEM ? db_no_memory : no_address);
}

static int look_up(struct pg_named *c, struct mk_worker *w)
{
    struct pg_lookup *lookup = malloc(sizeof(*lookup));
    int err;

    if (!lookup)
        return MK_E_NOMEM;
    lookup->conn = c;
    c->lookup = lookup;
    err = mk_resolve(w, c->target->name, 1, on_addresses, lookup); /* the port is libpq's */
    if (err == 0)
        return 0;
    c->lookup = NULL;
    free(lookup);
    return err;
}

unsigned pg_named_connect(struct db_conn *conn, struct mk_worker *w)
{
    struct pg_target *t = (struct pg_target *)(void *)conn->pool->target;
    int err;

    if (!t->name)
        return pg_connect(conn, &t->base);
    named_of(conn)->target = t;
    err = look_up(named_of(conn), w);
    if (err < 0)
        db_conn_lose(conn, mk_error_text(err));
    return t->connect_ms;
}

void pg_named_free(struct db_conn *conn)
{
    struct pg_named *c = named_of(conn);

    if (c->lookup)
        c->lookup->conn = NULL;
    if (c->target && !conn->was_ready)
        atomic_fetch_add(&c->target->nfailed, 1);
    pg_free_conn(conn);
}
