/* SPDX-License-Identifier: Apache-2.0 */
#include "data/sql/database.h"

#include <stdlib.h>
#include <string.h>

/* Queries: what they ask, how they end, and the request for which they ask. */

enum { VALUES_MAX = 65535 }; /* of the protocols of PostgreSQL and MariaDB */

char db_no_memory[] = "no memory";

/* ---- requests ---- */

void db_guest_put(struct db_guest *g)
{
    if (g && --g->refs == 0)
        free(g);
}

struct db_guest *db_guest_get(struct db_guest *g)
{
    if (g)
        g->refs++;
    return g;
}

/* The connection that it has goes on without it. A call-back may free any other. */
static void leave_connections(const struct db_guest *g)
{
    struct db_home *home = g->home;
    struct db_conn *c = home ? home->conns : NULL;

    while (c) {
        if (c->guest == g && !c->is_left) {
            c->is_left = c->is_leaving = true;
            db_conn_drive(c);
            c = home->conns;
        } else {
            c = c->next;
        }
    }
}

/* A request that comes later may have its address. */
static void unlink_guest(struct db_guest *g)
{
    struct db_guest **at = g->chain;

    if (!at)
        return;
    while (*at != g)
        at = &(*at)->next;
    *at = g->next;
    g->chain = NULL;
}

void db_guests_leave(struct db_home *home)
{
    for (unsigned i = 0; i < DB_GUEST_CHAINS; i++) {
        for (struct db_guest *g = home->guests[i]; g; g = g->next) {
            g->chain = NULL;
            g->home = NULL;
        }
        home->guests[i] = NULL;
    }
}

static void on_gone(void *arg)
{
    struct db_guest *g = arg;

    unlink_guest(g);
    g->request = NULL;
    if (g->refs > 1)
        leave_connections(g);
    db_guest_put(g);
}

static struct db_guest **chain_of(struct db_home *home, const void *request)
{
    const uintptr_t n = (uintptr_t)request / 64;

    return &home->guests[(n ^ n >> 6) % DB_GUEST_CHAINS];
}

static struct db_guest *find_guest(struct db_guest *const *chain, const void *request)
{
    struct db_guest *g = *chain;

    while (g && g->request != request)
        g = g->next;
    return g;
}

/* A request that lives long, such as a WebSocket, asks often: it is noted once. */
int db_guest_new(struct db_home *home, struct db_guest **guest, void *request)
{
    struct db_guest **chain = request ? chain_of(home, request) : NULL, *g;

    *guest = request ? db_guest_get(find_guest(chain, request)) : NULL;
    if (*guest || !request)
        return 0;
    g = malloc(sizeof(*g));
    if (!g)
        return -1;
    *g = (struct db_guest){.refs = 2, .request = request, .home = home, .chain = chain};
    if (home->host->on_end(request, on_gone, g) < 0) {
        free(g);
        return -1;
    }
    g->next = *chain;
    *chain = g;
    *guest = g;
    return 0;
}

/* ---- queries ---- */

struct db_query *db_query_new(const struct db_driver *driver, int kind, const char *sql,
                              struct db_guest *guest, void *priv)
{
    struct db_query *q = sql ? calloc(1, driver->query_size) : NULL;

    if (!q)
        return NULL;
    q->sql = strdup(sql);
    if (!q->sql) {
        free(q);
        return NULL;
    }
    q->driver = driver;
    q->kind = kind;
    q->guest = db_guest_get(guest);
    q->priv = priv;
    return q;
}

static size_t length_of(const char *value, int i, const int *lengths, const int *formats)
{
    if (!value)
        return 0;
    return formats && formats[i] == 1 ? (size_t)lengths[i] : strlen(value);
}

static bool are_values(int n, const char *const *values, const int *lengths, const int *formats)
{
    if (n < 0 || n > VALUES_MAX || (n > 0 && !values))
        return false;
    for (int i = 0; formats && i < n; i++) {
        if (formats[i] != 0 && (formats[i] != 1 || !lengths || lengths[i] < 0))
            return false;
    }
    return true;
}

/* One block: the arrays, and the bytes of the values. */
int db_query_params(struct db_query *q, int n, const char *const *values, const int *lengths,
                    const int *formats)
{
    size_t size = sizeof(*q->params);
    char *room;

    if (!are_values(n, values, lengths, formats))
        return -1;
    size += (size_t)n * (sizeof(char *) + 2 * sizeof(int));
    for (int i = 0; i < n; i++)
        size += length_of(values[i], i, lengths, formats) + 1;
    q->params = malloc(size);
    if (!q->params)
        return -1;
    q->params->n = n;
    q->params->values = (const char **)(void *)(q->params + 1);
    q->params->lengths = (int *)(void *)(q->params->values + n);
    q->params->formats = q->params->lengths + n;
    room = (char *)(q->params->formats + n);
    for (int i = 0; i < n; i++) {
        const size_t len = length_of(values[i], i, lengths, formats);

        q->params->values[i] = values[i] ? room : NULL;
        q->params->lengths[i] = (int)len;
        q->params->formats[i] = formats ? formats[i] : 0;
        if (values[i])
            memcpy(room, values[i], len);
        room[len] = '\0';
        room += len + 1;
    }
    return 0;
}

void db_query_free(struct db_query *q)
{
    q->driver->free_query(q);
    db_guest_put(q->guest);
    if (q->error != db_no_memory)
        free(q->error);
    free(q->params);
    free(q->sql);
    free(q);
}

/* Messages of servers may end in a line end. */
void db_query_fail(struct db_query *q, const char *why, const char *state)
{
    size_t len = why ? strlen(why) : 0;

    if (q->error)
        return;
    while (len > 0 && why[len - 1] == '\n')
        len--;
    q->error = len > 0 ? strndup(why, len) : strdup("it failed");
    if (!q->error)
        q->error = db_no_memory;
    if (state)
        memccpy(q->state, state, '\0', sizeof(q->state) - 1);
}

void db_query_finish(struct db_query *q)
{
    void *request = db_guest_request(q->guest);

    if (q->is_begin && db_guest_is_gone(q->guest))
        db_query_fail(q, "the client has left", NULL);
    if (q->is_begin && q->error && q->conn)
        q->conn->is_leaving = true;
    if (q->is_awaited && request)
        q->guest->home->host->unpark(request);
    q->driver->finish(q, request);
    db_query_free(q);
}
