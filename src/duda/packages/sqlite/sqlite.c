/* SPDX-License-Identifier: Apache-2.0 */
#include "later.h"

#include "duda_package.h"

/*
 * SQLite as in 2012, one handle for all workers, and pools. What open() gave is remembered, so that a statement that was
 * finalized, or a handle that was closed, is not used again.
 */

enum { OPEN_MAX = 64 };

_Static_assert(SQLITE_LOST_CLIENT == SQLITE_POOL_LOST, "what pools give");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sqlite3 *opened[OPEN_MAX];

/* With the lock. @return where it is; of NULL, a free place; NULL: nowhere */
static sqlite3 **place_of(const sqlite3 *db)
{
    for (int i = 0; i < OPEN_MAX; i++) {
        if (opened[i] == db)
            return &opened[i];
    }
    return NULL;
}

static bool remember(sqlite3 *db)
{
    sqlite3 **place;

    (void)pthread_mutex_lock(&lock);
    place = place_of(NULL);
    if (place)
        *place = db;
    (void)pthread_mutex_unlock(&lock);
    return place != NULL;
}

static sqlite3 *open_db(const char *path)
{
    sqlite3 *db = NULL;

    if (path && sqlite3_open(path, &db) == SQLITE_OK &&
        sqlite3_exec(db, "PRAGMA synchronous=OFF", NULL, NULL, NULL) == SQLITE_OK && remember(db))
        return db;
    msg->err("sqlite->open(%s): %s", path ? path : "NULL",
             db ? sqlite3_errmsg(db) : "no path or no memory");
    (void)sqlite3_close(db);
    return NULL;
}

static int dump(sqlite3 *db, const char *sql, sqlite3_stmt **handle)
{
    if (!handle)
        return -1;
    *handle = NULL;
    if (!db || !sql)
        return -1;
    return sqlite3_prepare_v2(db, sql, -1, handle, NULL) == SQLITE_OK && *handle ? 0 : -1;
}

static int step(sqlite3_stmt *handle)
{
    const int result = handle ? sqlite3_step(handle) : SQLITE_MISUSE;

    if (result == SQLITE_ROW)
        return SQLITE_ROW;
    return result == SQLITE_DONE ? 0 : -1;
}

static int get_int(sqlite3_stmt *handle, int col)
{
    return handle ? sqlite3_column_int(handle, col) : 0;
}

static double get_double(sqlite3_stmt *handle, int col)
{
    return handle ? sqlite3_column_double(handle, col) : 0;
}

static const unsigned char *get_text(sqlite3_stmt *handle, int col)
{
    return handle ? sqlite3_column_text(handle, col) : NULL;
}

/* With the lock. */
static bool is_of(sqlite3 *db, const sqlite3_stmt *handle)
{
    for (sqlite3_stmt *s = db ? sqlite3_next_stmt(db, NULL) : NULL; s;
         s = sqlite3_next_stmt(db, s)) {
        if (s == handle)
            return true;
    }
    return false;
}

/* Two threads cannot both find the same statement: the second looks after the first has finalized. */
static int end_statement(sqlite3_stmt *handle)
{
    bool is_ours = false;

    (void)pthread_mutex_lock(&lock);
    for (int i = 0; i < OPEN_MAX && handle && !is_ours; i++)
        is_ours = is_of(opened[i], handle);
    if (is_ours)
        (void)sqlite3_finalize(handle);
    (void)pthread_mutex_unlock(&lock);
    return is_ours ? 0 : -1;
}

static int exec(duda_request_t *dr, sqlite3 *db, const char *sql,
                int (*row)(void *cb_data, int n, char **values, char **names), void *user)
{
    struct sqlite_cb_data first = {.dr = dr, .data = user};

    if (!db || !sql)
        return -1;
    return sqlite3_exec(db, sql, row, &first, NULL) == SQLITE_OK ? 0 : -1;
}

static int close_db(sqlite3 *db)
{
    sqlite3 **place;
    int result = -1;

    if (!db)
        return -1;
    (void)pthread_mutex_lock(&lock);
    place = place_of(db);
    if (place && sqlite3_close(db) == SQLITE_OK) {
        *place = NULL;
        result = 0;
    }
    (void)pthread_mutex_unlock(&lock);
    return result;
}

/* ---- beyond 2012 ---- */

static sqlite_pool_t *pool_open(const char *path, int busy_ms)
{
    const char *why;
    sqlite_pool_t *pool = sqlite_pool_new(path, busy_ms, &why);

    if (!pool)
        msg->err("sqlite->pool_open(%s): %s", path ? path : "NULL", why);
    return pool;
}

static int bind_int64(sqlite3_stmt *handle, int n, int64_t value)
{
    return handle && sqlite3_bind_int64(handle, n, value) == SQLITE_OK ? 0 : -1;
}

static int bind_double(sqlite3_stmt *handle, int n, double value)
{
    return handle && sqlite3_bind_double(handle, n, value) == SQLITE_OK ? 0 : -1;
}

static int bind_text(sqlite3_stmt *handle, int n, const char *text)
{
    return handle && sqlite3_bind_text(handle, n, text, -1, SQLITE_TRANSIENT) == SQLITE_OK ? 0 : -1;
}

static int bind_blob(sqlite3_stmt *handle, int n, const void *bytes, size_t len)
{
    return handle && sqlite3_bind_blob64(handle, n, bytes, len, SQLITE_TRANSIENT) == SQLITE_OK ? 0
                                                                                               : -1;
}

static int64_t get_int64(sqlite3_stmt *handle, int col)
{
    return handle ? sqlite3_column_int64(handle, col) : 0;
}

static const void *get_blob(sqlite3_stmt *handle, int col, size_t *len)
{
    const void *bytes = handle ? sqlite3_column_blob(handle, col) : NULL;

    if (len)
        *len = handle ? (size_t)sqlite3_column_bytes(handle, col) : 0;
    return bytes;
}

static bool is_wanted(void *dr)
{
    return request->validate_request(dr) == MK_TRUE;
}

static int transaction(duda_request_t *dr, sqlite_pool_t *pool,
                       int (*work)(sqlite_pool_t *pool, void *arg), void *arg)
{
    return sqlite_pool_transaction(pool, work, arg, dr ? is_wanted : NULL, dr);
}

static int query_later(duda_request_t *dr, sqlite_pool_t *pool,
                       int (*work)(sqlite_pool_t *pool, void *arg),
                       void (*done)(duda_request_t *dr, int result, void *arg),
                       void (*end)(void *arg), void *arg)
{
    return sqlite_later(dr, pool, false, &(struct sqlite_work){work, done, end, arg});
}

static int transaction_later(duda_request_t *dr, sqlite_pool_t *pool,
                             int (*work)(sqlite_pool_t *pool, void *arg),
                             void (*done)(duda_request_t *dr, int result, void *arg),
                             void (*end)(void *arg), void *arg)
{
    return sqlite_later(dr, pool, true, &(struct sqlite_work){work, done, end, arg});
}

static int64_t last_id(sqlite3 *db)
{
    return db ? sqlite3_last_insert_rowid(db) : 0;
}

static int changed_rows(sqlite3 *db)
{
    return db ? sqlite3_changes(db) : -1;
}

static sqlite_object_t calls = {
    .open = open_db,
    .dump = dump,
    .step = step,
    .get_int = get_int,
    .get_double = get_double,
    .get_text = get_text,
    .done = end_statement,
    .exec = exec,
    .close = close_db,
    .pool_open = pool_open,
    .pool_close = sqlite_pool_free,
    .pool_handle = sqlite_pool_connection,
    .prepare = sqlite_pool_prepare,
    .release = sqlite_pool_release,
    .bind_int64 = bind_int64,
    .bind_double = bind_double,
    .bind_text = bind_text,
    .bind_blob = bind_blob,
    .get_int64 = get_int64,
    .get_blob = get_blob,
    .run = sqlite_pool_run,
    .transaction = transaction,
    .error_text = sqlite_pool_error,
    .query_later = query_later,
    .transaction_later = transaction_later,
    .last_id = last_id,
    .changed_rows = changed_rows,
};

duda_package_t *duda_package_main()
{
    static char name[] = "sqlite", version[] = "2.0";
    static duda_package_t package = {.name = name, .version = version, .api = &calls};

    return &package;
}
