/* SPDX-License-Identifier: Apache-2.0 */
#include "data/sqlite/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECTIONS_MAX = 64, KEPT_MAX = 32 };

/* A statement that is kept; its text is SQLite's own copy. */
struct kept {
    sqlite3_stmt *handle;
    bool is_lent;
    unsigned long used; /* when, by a count */
};

struct connection {
    struct connection *next;
    pthread_t thread;
    sqlite3 *db;
    unsigned long uses;
    struct kept kept[KEPT_MAX];
};

struct sqlite_pool {
    pthread_mutex_t lock; /* of the list: each connection is its thread's alone */
    struct connection *connections;
    unsigned count;
    int busy_ms;
    char path[];
};

/* ---- connections ---- */

static int set_up(sqlite3 *db, int busy_ms)
{
    (void)sqlite3_extended_result_codes(db, 1);
    (void)sqlite3_busy_timeout(db, busy_ms);
    return sqlite3_exec(db,
                        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                        "PRAGMA foreign_keys=ON;",
                        NULL, NULL, NULL);
}

static sqlite3 *open_file(const char *path, int busy_ms, const char **why)
{
    sqlite3 *db = NULL;
    int err = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

    if (err == SQLITE_OK)
        err = set_up(db, busy_ms);
    if (err == SQLITE_OK)
        return db;
    *why = sqlite3_errstr(err);
    (void)sqlite3_close(db);
    return NULL;
}

static void free_connection(struct connection *c)
{
    for (int i = 0; i < KEPT_MAX; i++)
        (void)sqlite3_finalize(c->kept[i].handle);
    (void)sqlite3_close_v2(c->db);
    free(c);
}

/* With the lock. */
static struct connection *find(const sqlite_pool_t *pool)
{
    struct connection *c = pool->connections;

    while (c && !pthread_equal(c->thread, pthread_self()))
        c = c->next;
    return c;
}

static struct connection *add(sqlite_pool_t *pool, sqlite3 *db)
{
    struct connection *c = db ? calloc(1, sizeof(*c)) : NULL;

    if (!c) {
        (void)sqlite3_close(db);
        return NULL;
    }
    c->thread = pthread_self();
    c->db = db;
    (void)pthread_mutex_lock(&pool->lock);
    c->next = pool->connections;
    pool->connections = c;
    (void)pthread_mutex_unlock(&pool->lock);
    return c;
}

/* @return whether this thread may open one, which is counted */
static bool count_one(sqlite_pool_t *pool)
{
    bool has_room;

    (void)pthread_mutex_lock(&pool->lock);
    has_room = pool->count < CONNECTIONS_MAX;
    pool->count += has_room;
    (void)pthread_mutex_unlock(&pool->lock);
    return has_room;
}

static void uncount_one(sqlite_pool_t *pool)
{
    (void)pthread_mutex_lock(&pool->lock);
    pool->count--;
    (void)pthread_mutex_unlock(&pool->lock);
}

/* A thread that waits for the file must not keep the others from their connections. */
static struct connection *connection_of(sqlite_pool_t *pool)
{
    struct connection *c;
    const char *why;

    if (!pool)
        return NULL;
    (void)pthread_mutex_lock(&pool->lock);
    c = find(pool);
    (void)pthread_mutex_unlock(&pool->lock);
    if (c || !count_one(pool))
        return c;
    c = add(pool, open_file(pool->path, pool->busy_ms, &why));
    if (!c)
        uncount_one(pool);
    return c;
}

sqlite_pool_t *sqlite_pool_new(const char *path, int busy_ms, const char **why)
{
    const size_t len = path ? strlen(path) : 0;
    sqlite_pool_t *pool = calloc(1, sizeof(*pool) + len + 1);
    sqlite3 *db;

    *why = path ? sqlite3_errstr(SQLITE_NOMEM) : "no path";
    db = path && pool ? open_file(path, busy_ms, why) : NULL;
    if (!db) {
        free(pool);
        return NULL;
    }
    memcpy(pool->path, path, len);
    pool->busy_ms = busy_ms;
    (void)pthread_mutex_init(&pool->lock, NULL);
    pool->count = 1;
    if (add(pool, db))
        return pool;
    *why = sqlite3_errstr(SQLITE_NOMEM);
    sqlite_pool_free(pool);
    return NULL;
}

void sqlite_pool_free(sqlite_pool_t *pool)
{
    if (!pool)
        return;
    for (struct connection *c = pool->connections, *next; c; c = next) {
        next = c->next;
        free_connection(c);
    }
    (void)pthread_mutex_destroy(&pool->lock);
    free(pool);
}

sqlite3 *sqlite_pool_connection(sqlite_pool_t *pool)
{
    struct connection *c = connection_of(pool);

    return c ? c->db : NULL;
}

const char *sqlite_pool_error(sqlite_pool_t *pool)
{
    struct connection *c = connection_of(pool);

    return c ? sqlite3_errmsg(c->db) : "no connection";
}

/* ---- statements ---- */

/* @return a kept statement of this text that nobody uses; else a place: a free one, or that unused longest; NULL: all are lent */
static struct kept *place_of(struct connection *c, const char *sql)
{
    struct kept *place = NULL;

    for (struct kept *k = c->kept; k < c->kept + KEPT_MAX; k++) {
        if (k->is_lent)
            continue;
        if (k->handle && strcmp(sqlite3_sql(k->handle), sql) == 0)
            return k;
        if (!place || !k->handle || (place->handle && k->used < place->used))
            place = k;
    }
    return place;
}

sqlite3_stmt *sqlite_pool_prepare(sqlite_pool_t *pool, const char *sql)
{
    struct connection *c = connection_of(pool);
    struct kept *k = c && sql ? place_of(c, sql) : NULL;

    if (!k)
        return NULL;
    if (!k->handle || strcmp(sqlite3_sql(k->handle), sql) != 0) {
        (void)sqlite3_finalize(k->handle);
        k->handle = NULL;
        if (sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &k->handle, NULL) !=
            SQLITE_OK)
            return NULL;
    }
    k->is_lent = k->handle != NULL; /* a comment is no statement */
    k->used = ++c->uses;
    return k->handle;
}

int sqlite_pool_release(sqlite_pool_t *pool, sqlite3_stmt *handle)
{
    struct connection *c = handle ? connection_of(pool) : NULL;

    for (struct kept *k = c ? c->kept : NULL; k && k < c->kept + KEPT_MAX; k++) {
        if (k->handle != handle || !k->is_lent)
            continue;
        (void)sqlite3_reset(handle);
        (void)sqlite3_clear_bindings(handle);
        k->is_lent = false;
        return 0;
    }
    return -1;
}

int sqlite_pool_run(sqlite_pool_t *pool, const char *queries)
{
    struct connection *c = connection_of(pool);

    if (!c || !queries)
        return -1;
    return sqlite3_exec(c->db, queries, NULL, NULL, NULL) == SQLITE_OK ? 0 : -1;
}

/* ---- transactions ---- */

/* What work has left open would keep the transaction from its end. */
static void reset_all(struct connection *c)
{
    for (struct kept *k = c->kept; k < c->kept + KEPT_MAX; k++) {
        if (k->handle)
            (void)sqlite3_reset(k->handle);
    }
}

int sqlite_pool_transaction(sqlite_pool_t *pool, int (*work)(sqlite_pool_t *pool, void *arg),
                            void *arg, bool (*is_wanted)(void *of), void *of)
{
    struct connection *c = connection_of(pool);
    int result;

    if (!c || !work || sqlite_pool_run(pool, "BEGIN IMMEDIATE") < 0)
        return -1;
    result = work(pool, arg) == 0 ? 0 : -1;
    if (result == 0 && is_wanted && !is_wanted(of))
        result = SQLITE_POOL_LOST;
    reset_all(c);
    if (result == 0)
        result = sqlite_pool_run(pool, "COMMIT");
    /* a full disk may have rolled it back already */
    if (result < 0 && !sqlite3_get_autocommit(c->db))
        (void)sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
    return result;
}
