/* SPDX-License-Identifier: Apache-2.0 */
#include "pg.h"

#include <stdlib.h>
#include <string.h>

/* LISTEN: a connection of a pool hears for all its channels, and is made anew when it is lost. */

enum { NAME_MAX = 63 }; /* of the server, which would cut longer ones */

static struct pg_channel *find(const struct pg_pool *p, const char *name)
{
    struct pg_channel *ch = p->channels;

    while (ch && strcmp(ch->name, name) != 0)
        ch = ch->next;
    return ch;
}

/* ---- statements ---- */

/* @return `LISTEN "name"`; NULL: no memory */
static char *statement(const char *verb, const char *name)
{
    char *sql = malloc(strlen(verb) + 2 * strlen(name) + 4), *at;

    if (!sql)
        return NULL;
    at = stpcpy(stpcpy(sql, verb), " \"");
    for (; *name; name++) {
        if (*name == '"')
            *at++ = '"';
        *at++ = *name;
    }
    (void)stpcpy(at, "\"");
    return sql;
}

/* The channel may be gone meanwhile, or another of the same name. */
static void on_heard(void *priv, postgresql_query_t *q, duda_request_t *dr)
{
    const struct pg_pool *p = priv;
    const struct pg_channel *ch = p->channels;

    (void)dr;
    while (ch && strcmp(ch->sql, q->base.sql) != 0)
        ch = ch->next;
    if (q->base.error)
        msg->err("postgresql: %s: %s", q->base.sql, q->base.error);
    else if (ch)
        ch->cb(ch->priv, ch->name, NULL);
}

static void ask(struct pg_pool *p, const char *sql, postgresql_query_end_cb *on_end)
{
    struct db_query *q = db_query_new(pg_package.driver, PG_TEXT, sql, NULL, p);

    if (!q)
        return;
    ((struct postgresql_query *)(void *)q)->on_end = on_end;
    db_conn_add(&p->ear->base, q);
}

/* ---- the connection ---- */

static struct pg_pool *pool_of(struct db_pool *pool)
{
    return (struct pg_pool *)(void *)pool;
}

bool pg_ear_open(struct db_pool *pool)
{
    struct pg_pool *p = pool_of(pool);
    struct db_conn *c;

    if (!p->channels || p->ear)
        return false;
    c = backoff_is_over(&pool->backoff, clock_now_ms())
            ? db_conn_new(pg_package.driver, pool->home, pool, true)
            : NULL;
    if (!c)
        return true;
    p->ear = (struct postgresql_conn *)(void *)c;
    db_conn_open(c, pool->target);
    return false;
}

void pg_ear_is_gone(struct db_pool *pool)
{
    pool_of(pool)->ear = NULL;
    db_pool_tick(pool);
}

void pg_ear_listen(struct pg_pool *p)
{
    for (const struct pg_channel *ch = p->channels; ch; ch = ch->next)
        ask(p, ch->sql, on_heard);
}

void pg_ear_hear(struct postgresql_conn *c)
{
    PGnotify *n;

    while ((n = PQnotifies(c->own.pg))) {
        const struct pg_channel *ch =
            c->base.is_apart ? find(pool_of(c->base.pool), n->relname) : NULL;

        if (ch)
            ch->cb(ch->priv, ch->name, n->extra);
        PQfreemem(n);
    }
}

/* ---- calls ---- */

static void free_channel(struct pg_channel *ch)
{
    free(ch->name);
    free(ch->sql);
    free(ch);
}

void pg_channels_free(struct db_pool *pool)
{
    struct pg_pool *p = pool_of(pool);

    while (p->channels) {
        struct pg_channel *next = p->channels->next;

        free_channel(p->channels);
        p->channels = next;
    }
}

static struct pg_channel *new_channel(const char *name, postgresql_notify_cb *cb, void *priv)
{
    struct pg_channel *ch = calloc(1, sizeof(*ch));

    if (!ch)
        return NULL;
    ch->cb = cb;
    ch->priv = priv;
    ch->name = strdup(name);
    ch->sql = statement("LISTEN", name);
    if (ch->name && ch->sql)
        return ch;
    free_channel(ch);
    return NULL;
}

static bool has_room(const struct pg_pool *p)
{
    unsigned n = 0;

    for (const struct pg_channel *ch = p->channels; ch; ch = ch->next)
        n++;
    return n < PG_CHANNELS_MAX;
}

int pg_listen(duda_global_t *pool, const char *channel, postgresql_notify_cb *cb, void *priv)
{
    struct db_pool *db = channel && cb ? db_pool_of(&pg_package, pool) : NULL;
    struct pg_pool *p = pool_of(db);
    struct pg_channel *ch;

    if (!p || !channel[0] || strlen(channel) > NAME_MAX || find(p, channel) || !has_room(p))
        return -1;
    ch = new_channel(channel, cb, priv);
    if (!ch)
        return -1;
    ch->next = p->channels;
    p->channels = ch;
    if (p->ear && p->ear->base.state == DB_READY)
        ask(p, ch->sql, on_heard);
    (void)pg_ear_open(db);
    db_pool_tick(db);
    return 0;
}

int pg_unlisten(duda_global_t *pool, const char *channel)
{
    struct pg_pool *p = channel ? pool_of(db_pool_of(&pg_package, pool)) : NULL;
    struct pg_channel **at = p ? &p->channels : NULL, *ch;
    char *sql;

    while (at && *at && strcmp((*at)->name, channel) != 0)
        at = &(*at)->next;
    if (!at || !*at)
        return -1;
    ch = *at;
    *at = ch->next;
    free_channel(ch);
    sql = p->ear && p->ear->base.state == DB_READY ? statement("UNLISTEN", channel) : NULL;
    if (sql)
        ask(p, sql, NULL);
    free(sql);
    return 0;
}
