/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_POSTGRESQL_PG_H
#define MK_DUDA_POSTGRESQL_PG_H

#undef DUDA_API_LEVEL
#define DUDA_API_LEVEL 3 /* all calls of the object */
#include "packages/postgresql/postgresql.h"

#include "remote/backoff.h"

#include <libpq-fe.h>
#include <stdbool.h>

/*
 * What a worker has of a service: pools, their connections, and connections of their own. Each connection has a queue of
 * queries, of which the first may be under way. All is of one thread.
 *
 * A connection is watched by a copy of its descriptor: libpq closes and opens the socket as it likes, and the
 * framework closes what a service watches when it is unloaded.
 */

enum {
    PG_KEPT_MAX = 32,
    PG_WAITING_MAX = 1024,
    PG_CHANNELS_MAX = 64,
    PG_LIMIT_MS = 10000,
    PG_LIMIT_LEAST_MS = 100,
    PG_BACKOFF_MS = 100,
    PG_BACKOFF_MOST_MS = 10000,
    PG_IDLE_MS = 30000,
    PG_TICK_MS = 100,
};

/** A request for which something is done; it is kept by those that refer to it, and by the request itself. */
struct pg_guest {
    unsigned refs;
    duda_request_t *dr; /* NULL: it has ended */
};

/** Where to connect. Pools have theirs until the process ends: a package does not learn of its service's end. */
struct pg_target {
    struct pg_target *next;
    char **keys, **values; /* end with NULL */
    unsigned count, room;
    int min, max; /* of a pool */
    unsigned limit_ms;
};

enum pg_kind { PG_TEXT, PG_PARAMS, PG_PREPARED, PG_KEPT };

struct pg_values {
    int n;
    const char **values;
    int *lengths, *formats;
};

struct postgresql_query {
    struct postgresql_query *next;
    struct postgresql_conn *conn; /* NULL: it waits for one */
    struct pg_guest *guest;       /* NULL: none */
    enum pg_kind kind;
    char *sql; /* the name, of PG_PREPARED */
    struct pg_values *params;
    int result_format;
    unsigned limit_ms;
    int64_t deadline; /* while it waits for a connection */
    postgresql_query_result_cb *on_result;
    postgresql_query_row_cb *on_row;
    postgresql_query_end_cb *on_end;
    postgresql_begin_cb *on_begin; /* in place of on_end */
    void *priv;
    bool is_aborted, is_commit;
    bool is_preparing;   /* PG_KEPT: PREPARE is under way */
    bool is_out_of_date; /* PG_KEPT: the server has forgotten what was kept */
    bool has_result;     /* on_result was called for the result under way */
    char **fields, **row;
    int columns;
    const PGresult *result; /* within on_row */
    char *error;            /* of malloc, or pg_no_memory */
    char state[6];
    long long rows;
};

enum pg_state { PG_CONNECTING, PG_READY, PG_LOST };

struct pg_kept {
    char *sql;
    unsigned serial;
};

struct postgresql_conn {
    struct postgresql_conn *next; /* of its worker */
    struct pg_home *home;
    struct pg_pool *pool; /* NULL: its own */
    PGconn *pg;           /* NULL: lost */
    struct pg_guest *guest;
    int fd; /* a copy, which is watched; -1: none */
    enum pg_state state;
    bool was_ready;
    bool is_inside;  /* drive() is on the stack */
    bool is_sent;    /* the first query is under way */
    bool is_lent;    /* to the service, or to a query of run() */
    bool is_leaving; /* no more queries; then back to the pool, or closed */
    bool is_left;    /* its request has ended: queries that were not sent end */
    bool is_ear;
    postgresql_connect_cb *on_connect;
    postgresql_disconnect_cb *on_disconnect;
    duda_timer_t *timer;
    unsigned limit_ms;
    int64_t idle_since;
    struct postgresql_query *first, **last;
    struct pg_kept kept[PG_KEPT_MAX];
    unsigned serial;
    char *why; /* it is lost */
};

struct pg_channel {
    struct pg_channel *next;
    postgresql_notify_cb *cb;
    void *priv;
    char *name, *sql; /* LISTEN */
};

struct pg_pool {
    struct pg_pool *next;
    struct pg_home *home;
    const struct pg_target *target;
    duda_timer_t *tick;
    struct postgresql_query *waiting, **last;
    unsigned nwaiting;
    int open; /* connections, without the ear */
    int connecting;
    struct backoff backoff;
    char why[256]; /* the last attempt failed; "": it did not */
    struct pg_channel *channels;
    struct postgresql_conn *ear;
};

struct pg_home {
    struct postgresql_conn *conns;
    struct pg_pool *pools;
};

/* ---- postgresql.c ---- */

/** @return what this worker has; NULL: nothing yet */
struct pg_home *pg_home(void);
/** Likewise, made if it is missing. @return NULL: no memory, or not a worker */
struct pg_home *pg_home_made(void);

/* ---- target.c ---- */

/** @return NULL: logged with the name of the call */
struct pg_target *pg_target_new(const char *call, const char *const *keys,
                                const char *const *values, int expand_dbname);
void pg_target_free(struct pg_target *t);

/* ---- query.c ---- */

/** @param dr  NULL: none. *guest: NULL. @return 0; -1: it is none, or no memory */
int pg_guest_new(struct pg_guest **guest, duda_request_t *dr);
struct pg_guest *pg_guest_get(struct pg_guest *g);
void pg_guest_put(struct pg_guest *g);
/** @return whether it was a request, and has ended */
static inline bool pg_guest_is_gone(const struct pg_guest *g)
{
    return g && !g->dr;
}

/** @param guest  gets a reference of its own. @return NULL: no memory, or no such query */
struct postgresql_query *pg_query_new(enum pg_kind kind, const char *sql, struct pg_guest *guest,
                                      void *priv);
/** Copies of the values. @return -1: refused */
int pg_query_params(struct postgresql_query *q, int n, const char *const *values,
                    const int *lengths, const int *formats);
void pg_query_free(struct postgresql_query *q);
/** Let the server cancel a little before the time limit. @return NULL: no memory */
struct postgresql_query *pg_limit_query(unsigned limit_ms);
/** The first error counts. */
void pg_query_fail(struct postgresql_query *q, const char *why, const char *state);
/** The last call-back, and free. */
void pg_query_finish(struct postgresql_query *q);
/** A result of the server. */
void pg_query_take(struct postgresql_query *q, const PGresult *result);

/* ---- conn.c ---- */

/** Connect. @return NULL: no memory */
struct postgresql_conn *pg_conn_new(struct pg_home *home, const struct pg_target *t,
                                    struct pg_pool *pool, bool is_ear);
/** @return whether it is a connection of this worker */
bool pg_conn_is_alive(const struct postgresql_conn *c);
/** Queue a query, which is taken, and send it if nothing else is under way. No call-back is made. */
void pg_conn_add(struct postgresql_conn *c, struct postgresql_query *q);
/** Do what can be done now, with all call-backs; c may be gone afterwards. */
void pg_conn_drive(struct postgresql_conn *c);
/** No more queries; afterwards it is closed or given back. c may be gone afterwards. */
void pg_conn_leave(struct postgresql_conn *c);
/** Nobody has it: close it. */
void pg_conn_close(struct postgresql_conn *c);
/** Without call-backs. */
void pg_conn_free(struct postgresql_conn *c);

/* ---- pool.c ---- */

/** @return the pool of this worker; NULL: there is none */
struct pg_pool *pg_pool_of(duda_global_t *pool);
void pg_pool_free(struct pg_pool *p);
/** A connection that nobody has, or a new one; NULL: none */
struct postgresql_conn *pg_pool_take(struct pg_pool *p);
/** Queue a query, which is taken unless this fails. @return -1: too many wait */
int pg_pool_add(struct pg_pool *p, struct postgresql_query *q);
/** A connection has been connected, has failed, or is free again. */
void pg_pool_connected(struct pg_pool *p);
void pg_pool_failed(struct pg_pool *p, const char *why);
void pg_pool_serve(struct pg_pool *p);
/** Ensure that time is looked at. */
void pg_pool_tick(struct pg_pool *p);

/* ---- listen.c ---- */

int pg_listen(duda_global_t *pool, const char *channel, postgresql_notify_cb *cb, void *priv);
int pg_unlisten(duda_global_t *pool, const char *channel);
/** Connect for the channels, if there are any, and it is time. */
void pg_ear_open(struct pg_pool *p);
/** It is connected. */
void pg_ear_listen(struct pg_pool *p);
/** What has been sent to it. */
void pg_ear_hear(struct postgresql_conn *c);
void pg_channels_free(struct pg_pool *p);

#endif
