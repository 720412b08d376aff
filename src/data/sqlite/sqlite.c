/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/sqlite.h>

#include "data/sql/rows.h"
#include "data/sqlite/pool.h"

#include <monkey/events.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What programs see: a database, and calls that run on the server's threads while their requests wait. */

enum {
    BUSY_MS = 1000,
    BUSY_MS_MAX = 60000,
    THREADS = 4,
    THREADS_MAX = 32,
    ASKS = 1024,
    TEXT_MAX = 256,
    STEPS = 4000 /* of SQLite's machine, after which a statement looks whether it is wanted */
};

struct mk_sqlite {
    sqlite_pool_t *pool;
    unsigned threads, most;
    size_t answer_max;
    atomic_uint asks;
};

struct mk_sqlite_rows {
    struct rows all;
};

/*
 * A call lives as long as the longer of its work and its request; each drops its half on the worker. Work alone has all but
 * the first members while it runs.
 */
struct ask {
    struct mk_later later;
    struct mk_offloaded *offloaded; /* while it is_running */
    bool has_request, is_running;
    mk_sqlite_fn fn;
    void *arg;
    atomic_bool is_wanted; /* the request has not ended */
    struct mk_sqlite *database;
    struct mk_sqlite_answer answer;
    struct mk_sqlite_rows rows;
    char text[TEXT_MAX];
    size_t nstatements;
    struct mk_sqlite_statement *statements; /* behind it are their values, and then the bytes */
};

/* ---- answers ---- */

_Static_assert(sizeof(double) == sizeof(int64_t), "numbers have one length");

/* A cell has its type in the first byte, and then its bytes or number. */
static struct mk_sqlite_value read_cell(const char *cell, size_t len)
{
    struct mk_sqlite_value value = {.type = cell[0]};

    if (value.type == MK_SQLITE_INTEGER)
        memcpy(&value.integer, cell + 1, sizeof(value.integer));
    else if (value.type == MK_SQLITE_REAL)
        memcpy(&value.real, cell + 1, sizeof(value.real));
    else
        value.bytes = (struct mk_str){cell + 1, len - 1};
    return value;
}

static struct mk_sqlite_value cell_of(const struct mk_sqlite_answer *answer, size_t cell)
{
    const struct mk_sqlite_value null = {.type = MK_SQLITE_NULL};
    size_t len;
    const char *text = rows_text(&answer->rows->all, cell, &len);

    return text ? read_cell(text, len) : null;
}

struct mk_sqlite_value mk_sqlite_value(const struct mk_sqlite_answer *answer, size_t row,
                                       unsigned column)
{
    const struct mk_sqlite_value null = {.type = MK_SQLITE_NULL};

    if (!answer || row >= answer->nrows || column >= answer->ncolumns)
        return null;
    return cell_of(answer, (row + 1) * answer->ncolumns + column);
}

struct mk_str mk_sqlite_text(const struct mk_sqlite_answer *answer, size_t row, unsigned column)
{
    return mk_sqlite_value(answer, row, column).bytes;
}

int64_t mk_sqlite_int(const struct mk_sqlite_answer *answer, size_t row, unsigned column)
{
    return mk_sqlite_value(answer, row, column).integer;
}

struct mk_str mk_sqlite_name(const struct mk_sqlite_answer *answer, unsigned column)
{
    const struct mk_str none = {NULL, 0};

    return answer && column < answer->ncolumns ? cell_of(answer, column).bytes : none;
}

/* ---- errors, on a thread of the server ---- */

static int result_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_OK:
        return 0;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return MK_E_BUSY;
    case SQLITE_NOMEM:
        return MK_E_NOMEM;
    case SQLITE_TOOBIG:
        return MK_E_LIMIT;
    case SQLITE_CANTOPEN:
    case SQLITE_CORRUPT:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_NOTADB:
    case SQLITE_PERM:
    case SQLITE_PROTOCOL:
    case SQLITE_READONLY:
        return MK_E_PEER;
    default:
        return MK_E_INVALID;
    }
}

/* The first error stays. @return -1 */
static int fail(struct ask *a, int result, int code, const char *text)
{
    if (a->answer.result == 0) {
        a->answer.result = result;
        a->answer.code = code;
        (void)snprintf(a->text, sizeof(a->text), "%s", text);
    }
    return -1;
}

static int fail_by(struct ask *a, sqlite3 *db)
{
    const int code = sqlite3_extended_errcode(db);

    if (code == SQLITE_OK) /* of what came after the error */
        return fail(a, MK_E_PEER, SQLITE_ERROR, "the transaction was not committed");
    return fail(a, result_of(code), code, sqlite3_errmsg(db));
}

/* ---- rows ---- */

static int keep(struct ask *a, enum rows_result result)
{
    if (result == ROWS_OK)
        return 0;
    return result == ROWS_FULL ? fail(a, MK_E_LIMIT, 0, "the answer is too long")
                               : fail(a, MK_E_NOMEM, 0, "no memory");
}

static enum rows_result add_bytes(struct rows *rows, int type, const void *bytes, size_t len)
{
    char few[TEXT_MAX], *cell = len < sizeof(few) ? few : malloc(len + 1);
    enum rows_result result = ROWS_NOMEM;

    if (cell) {
        cell[0] = (char)type;
        if (len > 0)
            memcpy(cell + 1, bytes, len);
        result = rows_add(rows, cell, len + 1);
    }
    if (cell != few)
        free(cell);
    return result;
}

static enum rows_result add_number(struct rows *rows, int type, const void *number)
{
    char cell[1 + sizeof(int64_t)];

    cell[0] = (char)type;
    memcpy(cell + 1, number, sizeof(int64_t));
    return rows_add(rows, cell, sizeof(cell));
}

static enum rows_result add_text(struct rows *rows, sqlite3_stmt *s, int n)
{
    const unsigned char *text = sqlite3_column_text(s, n);

    return text ? add_bytes(rows, MK_SQLITE_TEXT, text, (size_t)sqlite3_column_bytes(s, n))
                : ROWS_NOMEM;
}

static enum rows_result add_column(struct rows *rows, sqlite3_stmt *s, int n)
{
    const void *blob;

    switch (sqlite3_column_type(s, n)) {
    case SQLITE_INTEGER:
        return add_number(rows, MK_SQLITE_INTEGER, &(int64_t){sqlite3_column_int64(s, n)});
    case SQLITE_FLOAT:
        return add_number(rows, MK_SQLITE_REAL, &(double){sqlite3_column_double(s, n)});
    case SQLITE_TEXT:
        return add_text(rows, s, n);
    case SQLITE_BLOB:
        blob = sqlite3_column_blob(s, n);
        return add_bytes(rows, MK_SQLITE_BLOB, blob, (size_t)sqlite3_column_bytes(s, n));
    default:
        return rows_add(rows, NULL, 0);
    }
}

static int take_names(struct ask *a, sqlite3_stmt *s)
{
    struct rows *rows = &a->rows.all;
    int err = 0;

    rows_clear(rows);
    rows->ncolumns = (unsigned)sqlite3_column_count(s);
    for (unsigned i = 0; err == 0 && i < rows->ncolumns; i++) {
        const char *name = sqlite3_column_name(s, (int)i);

        err = keep(a, name ? add_bytes(rows, MK_SQLITE_TEXT, name, strlen(name)) : ROWS_NOMEM);
    }
    return err;
}

static int take_row(struct ask *a, sqlite3_stmt *s)
{
    struct rows *rows = &a->rows.all;
    int err = 0;

    for (unsigned i = 0; err == 0 && i < rows->ncolumns; i++)
        err = keep(a, add_column(rows, s, (int)i));
    rows->nrows++;
    return err;
}

/* ---- statements ---- */

static int bind(sqlite3_stmt *s, int n, const struct mk_sqlite_value *value)
{
    const char *bytes = value->bytes.p ? value->bytes.p : "";

    switch (value->type) {
    case MK_SQLITE_INTEGER:
        return sqlite3_bind_int64(s, n, value->integer);
    case MK_SQLITE_REAL:
        return sqlite3_bind_double(s, n, value->real);
    case MK_SQLITE_TEXT:
        return sqlite3_bind_text64(s, n, bytes, value->bytes.len, SQLITE_STATIC, SQLITE_UTF8);
    case MK_SQLITE_BLOB:
        return sqlite3_bind_blob64(s, n, bytes, value->bytes.len, SQLITE_STATIC);
    default:
        return sqlite3_bind_null(s, n);
    }
}

/* What SQLite has compiled is the text up to the end of the first statement. */
static bool is_all(sqlite3_stmt *s, const char *sql)
{
    const char *rest = sql + strlen(sqlite3_sql(s));

    return rest[strspn(rest, " \t\r\n;")] == '\0';
}

static int step_all(struct ask *a, sqlite3 *db, sqlite3_stmt *s)
{
    int err = take_names(a, s), result = SQLITE_ROW;

    while (err == 0 && (result = sqlite3_step(s)) == SQLITE_ROW)
        err = take_row(a, s);
    return err < 0 || result == SQLITE_DONE ? err : fail_by(a, db);
}

static int run_prepared(struct ask *a, sqlite3 *db, sqlite3_stmt *s,
                        const struct mk_sqlite_statement *said)
{
    if (sqlite3_stmt_readonly(s) && sqlite3_column_count(s) == 0)
        return fail(a, MK_E_INVALID, SQLITE_MISUSE,
                    "a statement that changes the connection, or its transaction");
    if (!is_all(s, said->sql))
        return fail(a, MK_E_INVALID, SQLITE_MISUSE, "more than one statement in a text");
    if ((size_t)sqlite3_bind_parameter_count(s) != said->nvalues)
        return fail(a, MK_E_INVALID, SQLITE_RANGE, "a value for each parameter is needed");
    for (size_t i = 0; i < said->nvalues; i++) {
        if (bind(s, (int)i + 1, &said->values[i]) != SQLITE_OK)
            return fail_by(a, db);
    }
    return step_all(a, db, s);
}

static int run_one(struct ask *a, sqlite_pool_t *pool, const struct mk_sqlite_statement *said)
{
    sqlite3 *db = sqlite_pool_connection(pool);
    sqlite3_stmt *s = sqlite_pool_prepare(pool, said->sql);
    int err;

    if (!s && sqlite3_errcode(db) == SQLITE_OK)
        return fail(a, MK_E_INVALID, SQLITE_MISUSE, "a text without a statement");
    if (!s)
        return fail_by(a, db);
    err = run_prepared(a, db, s, said);
    (void)sqlite_pool_release(pool, s);
    return err;
}

/* ---- calls, on a thread of the server ---- */

static bool is_wanted(void *of)
{
    struct ask *a = of;

    return atomic_load(&a->is_wanted);
}

static int is_interrupted(void *of)
{
    return !is_wanted(of);
}

static int run_all(sqlite_pool_t *pool, void *arg)
{
    struct ask *a = arg;
    int err = 0;

    for (size_t i = 0; err == 0 && i < a->nstatements; i++)
        err = run_one(a, pool, &a->statements[i]);
    return err;
}

static void run(struct ask *a, sqlite3 *db)
{
    sqlite_pool_t *pool = a->database->pool;
    const int before = sqlite3_total_changes(db);

    if (a->nstatements == 1)
        (void)run_all(pool, a);
    else if (sqlite_pool_transaction(pool, run_all, a, is_wanted, a) == -1)
        (void)fail_by(a, db);
    if (!sqlite3_get_autocommit(db)) {
        (void)sqlite_pool_run(pool, "ROLLBACK");
        (void)fail(a, MK_E_INVALID, SQLITE_MISUSE, "a statement begins a transaction");
    }
    if (a->answer.result < 0)
        return;
    a->answer.changes = sqlite3_total_changes(db) != before ? sqlite3_changes(db) : 0;
    a->answer.last_id = sqlite3_last_insert_rowid(db);
}

static void work(void *arg)
{
    struct ask *a = arg;
    sqlite3 *db = is_wanted(a) ? sqlite_pool_connection(a->database->pool) : NULL;

    if (!db) {
        (void)fail(a, MK_E_PEER, SQLITE_CANTOPEN, "the database cannot be opened");
        return;
    }
    sqlite3_progress_handler(db, STEPS, is_interrupted, a);
    run(a, db);
    sqlite3_progress_handler(db, 0, NULL, NULL);
}

/* ---- on the worker ---- */

static void free_ask(struct ask *a)
{
    rows_fini(&a->rows.all);
    free(a->statements);
    free(a);
}

static void on_request_end(void *arg)
{
    struct ask *a = arg;

    a->has_request = false;
    atomic_store(&a->is_wanted, false);
    if (a->is_running && mk_offload_drop(a->offloaded)) {
        atomic_fetch_sub(&a->database->asks, 1);
        a->is_running = false;
    }
    if (!a->is_running)
        free_ask(a);
}

static enum mk_verdict call(struct mk_request *r, void *arg)
{
    const struct ask *a = arg;

    return a->fn(r, &a->answer, a->arg);
}

static void done(void *arg)
{
    struct ask *a = arg;

    atomic_fetch_sub(&a->database->asks, 1);
    a->is_running = false;
    if (!a->has_request) {
        free_ask(a);
        return;
    }
    a->answer.text = a->answer.result < 0 ? a->text : "done";
    if (a->answer.result == 0) {
        a->answer.nrows = a->rows.all.nrows;
        a->answer.ncolumns = a->rows.all.ncolumns;
    }
    (void)mk_later_answer(&a->later, call, a);
}

/* ---- the start ---- */

/* @return the bytes of all texts and values; or an error */
static ssize_t size_of(const struct mk_sqlite_statement *statements, size_t n)
{
    size_t size = 0;

    for (size_t i = 0; i < n; i++) {
        const struct mk_sqlite_statement *s = &statements[i];

        if (!s->sql || (!s->values && s->nvalues > 0))
            return MK_E_INVALID;
        if (s->nvalues > MK_SQLITE_VALUES)
            return MK_E_LIMIT;
        size += sizeof(*s) + s->nvalues * sizeof(s->values[0]) + strlen(s->sql) + 1;
        for (size_t v = 0; v < s->nvalues && size <= MK_SQLITE_ASK_MAX; v++) {
            const struct mk_str bytes = s->values[v].bytes;

            if (!bytes.p && bytes.len > 0)
                return MK_E_INVALID;
            size += bytes.len < MK_SQLITE_ASK_MAX ? bytes.len : MK_SQLITE_ASK_MAX;
        }
        if (size > MK_SQLITE_ASK_MAX)
            return MK_E_LIMIT;
    }
    return (ssize_t)size;
}

static char *copy(char **end, const char *bytes, size_t len)
{
    char *p = *end;

    if (len > 0)
        memcpy(p, bytes, len);
    *end += len;
    return p;
}

static void copy_statements(struct ask *a, const struct mk_sqlite_statement *from, size_t n)
{
    struct mk_sqlite_value *values = (struct mk_sqlite_value *)(void *)(a->statements + n);
    char *end;
    size_t nvalues = 0;

    for (size_t i = 0; i < n; i++)
        nvalues += from[i].nvalues;
    end = (char *)(values + nvalues);
    for (size_t i = 0; i < n; i++) {
        a->statements[i] = (struct mk_sqlite_statement){
            copy(&end, from[i].sql, strlen(from[i].sql) + 1), values, from[i].nvalues};
        for (size_t v = 0; v < from[i].nvalues; v++, values++) {
            *values = from[i].values[v];
            values->bytes.p = copy(&end, values->bytes.p, values->bytes.len);
        }
    }
    a->nstatements = n;
}

static struct ask *new_ask(struct mk_sqlite *database, const struct mk_sqlite_statement *statements,
                           size_t n, size_t size)
{
    struct ask *a = calloc(1, sizeof(*a));

    if (!a)
        return NULL;
    a->statements = malloc(size);
    if (!a->statements) {
        free(a);
        return NULL;
    }
    copy_statements(a, statements, n);
    rows_init(&a->rows.all, database->answer_max);
    a->database = database;
    a->answer.size = sizeof(a->answer);
    a->answer.rows = &a->rows;
    atomic_init(&a->is_wanted, true);
    return a;
}

static int offload(struct ask *a, struct mk_worker *w)
{
    const struct mk_work own = {
        .size = sizeof(own),
        .kind = MK_WORK_HANDLER,
        .lane = a->database,
        .most = a->database->threads,
        .work = work,
        .done = done,
        .arg = a,
    };
    int err = 0;

    if (atomic_fetch_add(&a->database->asks, 1) >= a->database->most)
        err = MK_E_BUSY;
    a->is_running = true;
    if (err == 0)
        err = mk_offload_work(w, &own, &a->offloaded);
    if (err == 0)
        return 0;
    a->is_running = false;
    atomic_fetch_sub(&a->database->asks, 1);
    return err;
}

/* From its place among the ends of the request on, that frees the call. */
static int start(struct ask *a, struct mk_request *r)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    int err = mk_later_begin(&a->later, r);

    if (err < 0 || mk_request_on_end(r, on_request_end, a) < 0) {
        mk_later_drop(&a->later);
        free_ask(a);
        return err < 0 ? err : MK_E_NOMEM;
    }
    a->has_request = true;
    mk_request_facts(r, &facts);
    err = offload(a, facts.worker);
    if (err < 0)
        mk_later_drop(&a->later);
    return err;
}

int mk_sqlite_ask(struct mk_sqlite *database, struct mk_request *r,
                  const struct mk_sqlite_statement *statements, size_t nstatements, mk_sqlite_fn fn,
                  void *arg)
{
    struct ask *a;
    ssize_t size;

    if (!database || !r || !statements || nstatements == 0 || !fn)
        return MK_E_INVALID;
    size = nstatements <= MK_SQLITE_STATEMENTS ? size_of(statements, nstatements) : MK_E_LIMIT;
    if (size < 0)
        return (int)size;
    a = new_ask(database, statements, nstatements, (size_t)size);
    if (!a)
        return MK_E_NOMEM;
    a->fn = fn;
    a->arg = arg;
    return start(a, r);
}

/* ---- life ---- */

/* Each connection would have a database of its own. */
static bool is_file(const char *path)
{
    return path && path[0] != '\0' && path[0] != ':' && strncasecmp(path, "file:", 5) != 0;
}

static int set_up(struct mk_sqlite *db, const struct mk_sqlite_options *o, const char **why)
{
    const unsigned busy_ms = o->busy_ms > 0 ? o->busy_ms : BUSY_MS;

    *why = "the path is no file's";
    if (!is_file(o->path))
        return MK_E_INVALID;
    *why = "busy_ms is above 60000, or threads above 32";
    if (busy_ms > BUSY_MS_MAX || o->threads > THREADS_MAX)
        return MK_E_LIMIT;
    db->threads = o->threads > 0 ? o->threads : THREADS;
    db->most = o->asks > 0 ? o->asks : ASKS;
    db->answer_max = o->answer_max > 0 ? o->answer_max : (size_t)8 << 20;
    atomic_init(&db->asks, 0);
    db->pool = sqlite_pool_new(o->path, (int)busy_ms, why);
    if (db->pool)
        return 0;
    return *why == sqlite3_errstr(SQLITE_NOMEM) ? MK_E_NOMEM : MK_E_PEER;
}

int mk_sqlite_new(struct mk_sqlite **database, const struct mk_sqlite_options *options,
                  const char **why)
{
    struct mk_sqlite_options own = {0};
    struct mk_sqlite *db;
    const char *wrong;
    int err;

    if (!database || !options)
        return MK_E_INVALID;
    memcpy(&own, options, options->size < sizeof(own) ? options->size : sizeof(own));
    db = calloc(1, sizeof(*db));
    if (!db)
        return MK_E_NOMEM;
    err = set_up(db, &own, &wrong);
    if (err == 0) {
        *database = db;
        return 0;
    }
    if (why)
        *why = wrong;
    free(db);
    return err;
}

int mk_sqlite_run(struct mk_sqlite *database, const char *sql, const char **why)
{
    sqlite3 *db = database && sql ? sqlite_pool_connection(database->pool) : NULL;
    int code = SQLITE_CANTOPEN;

    if (!database || !sql)
        return MK_E_INVALID;
    if (db && sqlite_pool_run(database->pool, sql) == 0)
        return 0;
    if (db)
        code = sqlite3_extended_errcode(db);
    if (db && !sqlite3_get_autocommit(db))
        (void)sqlite_pool_run(database->pool, "ROLLBACK");
    if (why)
        *why = sqlite3_errstr(code);
    return result_of(code);
}

void mk_sqlite_free(struct mk_sqlite *database)
{
    if (!database)
        return;
    sqlite_pool_free(database->pool);
    free(database);
}
