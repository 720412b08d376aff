/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DATA_SQL_DATABASE_H
#define MK_DATA_SQL_DATABASE_H

#include "data/remote/backoff.h"

#include <monkey/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * For those that ask databases: what a worker has of a service or program, namely pools, their connections, and connections of
 * their own. Each connection has a queue of queries, of which the first may be under way. All is of one thread. The
 * client library of a database is a driver, whose own structs begin with these.
 *
 * A connection is watched by a copy of its descriptor: client libraries close and open the socket as they like, and who
 * watches may close his own.
 */

enum {
    DB_KEPT_MAX = 32,
    DB_WAITING_MAX = 16384, /* queries for a connection, unless the service says otherwise */
    DB_WAITING_MOST = 1 << 20,
    DB_LIMIT_MS = 10000,
    DB_LIMIT_LEAST_MS = 100,
    DB_POOL_MIN = 2,
    DB_POOL_MAX = 8,
    DB_GUEST_CHAINS = 64,
};

/** A request for which something is done, once a worker; it is kept by those that refer to it, and by the request itself. */
struct db_guest {
    struct db_guest *next, **chain; /* of its home; chain NULL: in none */
    unsigned refs;
    void *request;        /* NULL: it has ended */
    struct db_home *home; /* NULL: it has ended */
};

/** Where to connect. Pools have theirs until the process ends: a package does not learn of its service's end. */
struct db_target {
    struct db_target *next;
    int min, max; /* of a pool */
    unsigned limit_ms;
    unsigned waiting_max; /* queries, on each worker */
    int total_max;        /* connections of all workers together; 0: no bound but max of each */
    _Atomic int total;    /* likewise, if they have a bound */
    _Atomic bool
        is_wanted; /* a worker has queries and no connection, and the server takes no more */
};

struct db_values {
    int n;
    const char **values; /* terminated; NULL: null */
    int *lengths, *formats;
};

struct db_query {
    struct db_query *next;
    const struct db_driver *driver;
    struct db_conn *conn;   /* NULL: it waits for one */
    struct db_guest *guest; /* NULL: none */
    bool is_awaited;        /* its request is parked until it ends */
    int kind;               /* of the driver; 0: a text */
    char *sql;
    struct db_values *params;
    void *priv;
    unsigned limit_ms;
    int64_t deadline; /* while it waits for a connection */
    bool is_begin;    /* its connection remains lent when it ends */
    bool is_aborted;
    char *error; /* of malloc, or db_no_memory */
    char state[6];
    int fault; /* of the error, an enum mk_error; 0: it is that of the server, or there was no memory */
};

enum db_state { DB_NEW, DB_CONNECTING, DB_READY, DB_LOST };

/** A statement that is prepared. */
struct db_kept {
    char *sql; /* NULL: the end of the list */
    unsigned serial;
    void *handle; /* of the driver */
};

struct db_conn {
    struct db_conn *next; /* of its worker */
    const struct db_driver *driver;
    struct db_home *home;
    struct db_pool *pool; /* NULL: its own */
    struct db_guest *guest;
    int fd;      /* a copy, which is watched; -1: none */
    void *watch; /* of the host */
    enum db_state state;
    bool was_ready;
    bool has_event;  /* of its descriptor, which the driver has not used */
    bool is_inside;  /* drive() is on the stack */
    bool is_sent;    /* the first query is under way */
    bool is_lent;    /* to the service, or to a query of a pool */
    bool is_leaving; /* no more queries; then back to the pool, or closed */
    bool is_left;    /* its request has ended: queries that were not sent end */
    bool is_apart;   /* the pool neither lends nor counts it */
    void *timer;
    void *turn; /* it is driven soon */
    unsigned limit_ms;
    int64_t idle_since;
    struct db_query *first, **last;
    struct db_kept kept[DB_KEPT_MAX];
    unsigned serial;
    char *why; /* it is lost */
    int fault; /* likewise, as in a query */
};

struct db_pool {
    struct db_pool *next;
    const struct db_driver *driver;
    struct db_home *home;
    struct db_target *target; /* of all workers */
    void *tick;
    struct db_query *waiting, **last;
    unsigned nwaiting;
    int open; /* connections, without those apart */
    struct backoff backoff;
    char why[256]; /* the last attempt failed; "": it did not */
};

struct db_home {
    const struct db_host *host;
    struct db_guest *guests[DB_GUEST_CHAINS]; /* by request */
    struct db_conn *conns;
    struct db_pool *pools;
};

enum db_progress { DB_WAITS, DB_AGAIN, DB_ENDED };

/** What surrounds the databases of a worker, on its thread: a service, or a program. */
struct db_host {
    /** Call fn(arg) once after ms, which ends the timer, or every ms. @return the timer; NULL: no memory */
    void *(*after)(struct db_home *home, unsigned ms, void (*fn)(void *arg), void *arg);
    void *(*every)(struct db_home *home, unsigned ms, void (*fn)(void *arg), void *arg);
    void (*cancel)(struct db_home *home, void *timer);
    /** Watch c->fd, level-triggered, which has db_conn_input() called. @return 0; -1: it is not watched */
    int (*watch)(struct db_conn *c, bool wants_write);
    void (*want)(struct db_conn *c, bool wants_write);
    /** End it, and close c->fd. */
    void (*unwatch)(struct db_conn *c);
    /** Likewise when the connection is freed with its home, whose timers end as well. NULL: the host does so by itself */
    void (*forget)(struct db_conn *c);
    /** Call fn(arg) when the request has ended. @return 0; -1: it is none, or no memory */
    int (*on_end)(void *request, void (*fn)(void *arg), void *arg);
    /** The request waits for a query of db_pool_run(). @return 0; -1: it has its answer. NULL, both: the user sees to it */
    int (*park)(void *request);
    void (*unpark)(void *request);
};

/** Functions of a client library; those that may be NULL say so. */
struct db_driver {
    size_t conn_size, pool_size, query_size;

    /** Begin to connect: db_conn_watch() or db_conn_lose(). @return ms until it is given up; 0: DB_LIMIT_MS */
    unsigned (*connect)(struct db_conn *c, const struct db_target *t);
    /** The descriptor has an event: go on, until db_conn_connected(). */
    void (*connect_on)(struct db_conn *c);
    /** It is connected, and has no query yet. May be NULL. */
    void (*set_up)(struct db_conn *c);
    /** Begin the first query, or go on to send it. c->is_sent: it was begun. */
    void (*send)(struct db_conn *c);
    /** Read what there is of the first query. DB_AGAIN: send it once more. */
    enum db_progress (*receive)(struct db_conn *c);
    /** It is lost: use nothing of its queries any more. May be NULL. */
    void (*lost)(struct db_conn *c);
    /** The descriptor has an event. May be NULL. */
    void (*input)(struct db_conn *c);
    bool (*is_in_transaction)(const struct db_conn *c);
    /** Let the server cancel a little before the time limit. */
    void (*limit_text)(char *sql, size_t room, unsigned limit_ms);
    /** Call-backs. */
    void (*connected)(struct db_conn *c, int status, void *request);
    void (*disconnected)(struct db_conn *c, int status, void *request);
    void (*finish)(struct db_query *q, void *request);
    /** Free what is the driver's alone. */
    void (*free_conn)(struct db_conn *c);
    void (*free_query)(struct db_query *q);
    /** Likewise. May be NULL. */
    void (*free_pool)(struct db_pool *p);
    /** A connection that is apart is gone. May be NULL if there are none. */
    void (*apart_is_gone)(struct db_pool *p);
    /** Time for a pool. @return whether it needs more. May be NULL. */
    bool (*tick)(struct db_pool *p);
};

/* ---- db_query.c ---- */

extern char db_no_memory[];

/** @param request  NULL: none. *guest: NULL, else with a reference for the caller. @return 0; -1: it is none, or no memory */
int db_guest_new(struct db_home *home, struct db_guest **guest, void *request);
struct db_guest *db_guest_get(struct db_guest *g);
/** The home ends before the requests. */
void db_guests_leave(struct db_home *home);
void db_guest_put(struct db_guest *g);
/** @return whether it was a request, and has ended */
static inline bool db_guest_is_gone(const struct db_guest *g)
{
    return g && !g->request;
}
static inline void *db_guest_request(const struct db_guest *g)
{
    return g ? g->request : NULL;
}

/** @param guest  gets a reference of its own. @return NULL: no memory, or no such query */
struct db_query *db_query_new(const struct db_driver *driver, int kind, const char *sql,
                              struct db_guest *guest, void *priv);
/** Copies of the values. @return -1: refused */
int db_query_params(struct db_query *q, int n, const char *const *values, const int *lengths,
                    const int *formats);
void db_query_free(struct db_query *q);
/** The first error counts. */
void db_query_fail(struct db_query *q, const char *why, const char *state);
/** The last call-back, and free. */
void db_query_finish(struct db_query *q);
/** @return whether rows of it are for anybody */
static inline bool db_query_is_wanted(const struct db_query *q)
{
    return !q->is_aborted && !q->error && !db_guest_is_gone(q->guest);
}

/* ---- db_kept.c ---- */

struct db_kept *db_kept_find(struct db_conn *c, const char *sql);
/** Names are used once: a statement that is out of date lies at the server under its own. @return NULL: no room or memory */
struct db_kept *db_kept_add(struct db_conn *c, const char *sql);
void db_kept_forget(struct db_conn *c, const char *sql);

/* ---- db_conn.c ---- */

/** @return a connection that connects by db_conn_open(); NULL: no memory */
struct db_conn *db_conn_new(const struct db_driver *driver, struct db_home *home,
                            struct db_pool *pool, bool is_apart);
void db_conn_open(struct db_conn *c, const struct db_target *t);
/** @param home  of this worker; NULL: none. @return whether it has the connection */
bool db_conn_is_in(const struct db_home *home, const void *conn);
/** Queue a query, which is taken, and send it if nothing else is under way. No call-back is made. */
void db_conn_add(struct db_conn *c, struct db_query *q);
/** For hosts: the descriptor has an event. */
void db_conn_input(struct db_conn *c);
/** Likewise: its watch has ended by itself, and the client library has to find out why. */
void db_conn_watch_ended(struct db_conn *c);
/** Do what can be done now, with all call-backs; c may be gone afterwards. */
void db_conn_drive(struct db_conn *c);
/** No more queries; afterwards it is closed or given back. c may be gone afterwards. */
void db_conn_leave(struct db_conn *c);
/** Nobody has it: close it. */
void db_conn_close(struct db_conn *c);
/** Without call-backs. */
void db_conn_free(struct db_conn *c);
/** @param c  a usable one that is no pool's. @return 0; -1: refused */
int db_conn_set_limit(struct db_conn *c, unsigned ms);

/** For drivers. Watch this socket; one that is watched already is not looked at. */
void db_conn_watch(struct db_conn *c, int fd, bool wants_write);
void db_conn_unwatch(struct db_conn *c);
void db_conn_lose(struct db_conn *c, const char *why);
void db_conn_connected(struct db_conn *c);
/** Drive it soon, without an event. */
void db_conn_turn(struct db_conn *c);

/* ---- db_pool.c ---- */

/** Begin on a worker. @param home  zeroed; a host's may begin with it */
void db_home_init(struct db_home *home, const struct db_host *host);
/** The worker has no more use for it, or its thread has ended: no call-back can be made. The home stays the caller's. */
void db_home_fini(struct db_home *home);

/** Bounds of a pool; both 0: the usual. @return 0; -1: refused */
int db_target_init(struct db_target *t, int min, int max);
/** @return the pool of a target, made if it is missing; NULL: no memory */
struct db_pool *db_pool_in(struct db_home *home, const struct db_driver *driver,
                           struct db_target *t);
/** @return a connection for a request, which is idle or connects; NULL: none */
struct db_conn *db_pool_lend(struct db_pool *p, void *request);
/** @return a query that waits for a connection; NULL: refused */
struct db_query *db_pool_query(struct db_pool *p, void *request, int kind, const char *sql,
                               void *priv);
/** Queue it. @return 0; -1: too many wait, and it is freed */
int db_pool_add(struct db_pool *p, struct db_query *q);
/** Likewise, with its request parked until it ends. */
int db_pool_run(struct db_pool *p, struct db_query *q);
/** @return whether the last attempt to connect has failed, there is no connection, and it is not time for another attempt */
bool db_pool_is_away(const struct db_pool *p);
/** End all queries that wait, unless there is a connection for them: the last attempt to connect has failed. */
void db_pool_give_up(struct db_pool *p);
/** A connection of the pool is gone. */
void db_pool_forget(struct db_pool *p);
/** A connection has been connected, has failed, or is free again. */
void db_pool_connected(struct db_pool *p);
void db_pool_failed(struct db_pool *p, const char *why);
void db_pool_serve(struct db_pool *p);
/** Ensure that time is looked at. */
void db_pool_tick(struct db_pool *p);

#endif
