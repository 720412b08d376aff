/* SPDX-License-Identifier: Apache-2.0 */
#include "ma.h"

#include <errmsg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/*
 * A query is a chain of operations of libmariadb, each of which may wait for events. When one is over, its row of the
 * table says with which the query goes on.
 */

enum {
    OPERATIONS_A_TURN = 256,
    BREAKS_MAX = 16,
    UNKNOWN_STMT = 1243,  /* ER_UNKNOWN_STMT_HANDLER */
    NEEDS_PREPARE = 1615, /* ER_NEED_REPREPARE */
    OWN_ERRORS = 5000,    /* CER_MIN_ERROR of libmariadb */
};

/* ---- errors ---- */

/* Errors of the library are of the connection; those of the server are of the query. */
static bool is_of_connection(unsigned code)
{
    return (code >= CR_MIN_ERROR && code <= CR_MAX_ERROR) || code >= OWN_ERRORS;
}

static void fail(struct mariadb_conn *c, unsigned code, const char *why, const char *state)
{
    struct mariadb_query *q = ma_first(c);

    db_query_fail(&q->base, why, state);
    q->code = code;
    c->has_failed = true;
    if (is_of_connection(code))
        db_conn_lose(&c->base, why);
}

static enum ma_operation fail_text(struct mariadb_conn *c)
{
    fail(c, mysql_errno(c->my), mysql_error(c->my), mysql_sqlstate(c->my));
    return MA_NONE;
}

static enum ma_operation fail_memory(struct mariadb_conn *c)
{
    fail(c, CR_OUT_OF_MEMORY, db_no_memory, NULL);
    return MA_NONE;
}

/* ---- texts ---- */

static int start_query(struct mariadb_conn *c)
{
    const char *sql = ma_first(c)->base.sql;

    return mysql_real_query_start(&c->outcome.number, c->my, sql, strlen(sql));
}

static int go_on_query(struct mariadb_conn *c, int events)
{
    return mysql_real_query_cont(&c->outcome.number, c->my, events);
}

static void take_command(struct mariadb_query *q, MYSQL *my)
{
    q->rows = mysql_affected_rows(my);
    q->insert_id = mysql_insert_id(my);
}

static enum ma_operation take_result(struct mariadb_conn *c)
{
    struct mariadb_query *q = ma_first(c);

    c->result = mysql_use_result(c->my);
    if (!c->result && mysql_field_count(c->my) > 0)
        return fail_memory(c);
    if (!c->result) {
        take_command(q, c->my);
        return mysql_more_results(c->my) ? MA_NEXT : MA_NONE;
    }
    if (ma_rows_of_text(q, c->result) < 0)
        return fail_memory(c);
    ma_rows_begin(q);
    return MA_FETCH;
}

static enum ma_operation end_query(struct mariadb_conn *c)
{
    return c->outcome.number == 0 ? take_result(c) : fail_text(c);
}

static int start_fetch(struct mariadb_conn *c)
{
    return mysql_fetch_row_start(&c->outcome.row, c->result);
}

static int go_on_fetch(struct mariadb_conn *c, int events)
{
    return mysql_fetch_row_cont(&c->outcome.row, c->result, events);
}

/* At its end nothing of it is left to be read. */
static enum ma_operation end_fetch(struct mariadb_conn *c)
{
    struct mariadb_query *q = ma_first(c);

    if (c->outcome.row) {
        ma_row_of_text(q, c->outcome.row, mysql_fetch_lengths(c->result));
        return MA_FETCH;
    }
    mysql_free_result(c->result);
    c->result = NULL;
    if (mysql_errno(c->my))
        return fail_text(c);
    return mysql_more_results(c->my) ? MA_NEXT : MA_NONE;
}

static int start_next(struct mariadb_conn *c)
{
    return mysql_next_result_start(&c->outcome.number, c->my);
}

static int go_on_next(struct mariadb_conn *c, int events)
{
    return mysql_next_result_cont(&c->outcome.number, c->my, events);
}

/* ---- statements ---- */

/* @return what ends the query */
static enum ma_operation end_stmt(struct mariadb_conn *c)
{
    if (c->base.state != DB_READY)
        return MA_NONE; /* free_conn() closes it */
    if (!c->is_kept)
        return MA_STMT_CLOSE;
    (void)mysql_stmt_free_result(c->stmt);
    c->stmt = NULL;
    return MA_NONE;
}

/* Errors between rows are of the connection's handle alone. */
static enum ma_operation fail_stmt(struct mariadb_conn *c)
{
    const unsigned of_stmt = mysql_stmt_errno(c->stmt);
    const unsigned code = of_stmt ? of_stmt : mysql_errno(c->my);

    fail(c, code, of_stmt ? mysql_stmt_error(c->stmt) : mysql_error(c->my),
         of_stmt ? mysql_stmt_sqlstate(c->stmt) : mysql_sqlstate(c->my));
    if (c->is_kept && (code == UNKNOWN_STMT || code == NEEDS_PREPARE)) {
        db_kept_forget(&c->base, ma_first(c)->base.sql);
        c->is_kept = false;
    }
    return end_stmt(c);
}

static int start_prepare(struct mariadb_conn *c)
{
    const char *sql = ma_first(c)->base.sql;

    return mysql_stmt_prepare_start(&c->outcome.number, c->stmt, sql, strlen(sql));
}

static int go_on_prepare(struct mariadb_conn *c, int events)
{
    return mysql_stmt_prepare_cont(&c->outcome.number, c->stmt, events);
}

static enum ma_operation end_prepare(struct mariadb_conn *c)
{
    struct db_kept *k;

    if (c->outcome.number != 0)
        return fail_stmt(c);
    k = db_kept_add(&c->base, ma_first(c)->base.sql);
    if (k)
        k->handle = c->stmt;
    c->is_kept = k != NULL;
    return MA_BIND;
}

static int start_nothing(struct mariadb_conn *c)
{
    (void)c;
    return 0;
}

/* libmariadb copies the binds, and borrows the values until they are sent. */
static bool bind_values(MYSQL_STMT *stmt, const struct db_values *v)
{
    MYSQL_BIND *binds = calloc((size_t)v->n + 1, sizeof(*binds));
    bool is_good;

    if (!binds)
        return false;
    for (int i = 0; i < v->n; i++) {
        binds[i].buffer_type = v->values[i] ? MYSQL_TYPE_STRING : MYSQL_TYPE_NULL;
        binds[i].buffer = (void *)(uintptr_t)v->values[i];
        binds[i].buffer_length = (unsigned long)v->lengths[i];
    }
    is_good = v->n == 0 || mysql_stmt_bind_param(stmt, binds) == 0;
    free(binds);
    return is_good;
}

static enum ma_operation end_bind(struct mariadb_conn *c)
{
    struct mariadb_query *q = ma_first(c);

    if (mysql_stmt_param_count(c->stmt) != (unsigned long)q->base.params->n) {
        fail(c, 0, "the statement has another number of parameters", "07001");
        return end_stmt(c);
    }
    if (!bind_values(c->stmt, q->base.params)) {
        fail(c, 0, db_no_memory, NULL);
        return end_stmt(c);
    }
    return MA_EXECUTE;
}

static int start_execute(struct mariadb_conn *c)
{
    return mysql_stmt_execute_start(&c->outcome.number, c->stmt);
}

static int go_on_execute(struct mariadb_conn *c, int events)
{
    return mysql_stmt_execute_cont(&c->outcome.number, c->stmt, events);
}

static enum ma_operation end_result(struct mariadb_conn *c)
{
    return mysql_stmt_more_results(c->stmt) ? MA_STMT_NEXT : end_stmt(c);
}

static enum ma_operation take_stmt_result(struct mariadb_conn *c)
{
    struct mariadb_query *q = ma_first(c);
    MYSQL_RES *names;
    int bad;

    if (mysql_stmt_field_count(c->stmt) == 0) {
        q->rows = mysql_stmt_affected_rows(c->stmt);
        q->insert_id = mysql_stmt_insert_id(c->stmt);
        return end_result(c);
    }
    names = mysql_stmt_result_metadata(c->stmt);
    bad = names ? ma_rows_of_stmt(q, c->stmt, names) : -1;
    if (bad == 0)
        ma_rows_begin(q);
    if (names)
        mysql_free_result(names);
    return bad ? fail_memory(c) : MA_STMT_FETCH;
}

static enum ma_operation end_execute(struct mariadb_conn *c)
{
    return c->outcome.number == 0 ? take_stmt_result(c) : fail_stmt(c);
}

static int start_stmt_fetch(struct mariadb_conn *c)
{
    return mysql_stmt_fetch_start(&c->outcome.number, c->stmt);
}

static int go_on_stmt_fetch(struct mariadb_conn *c, int events)
{
    return mysql_stmt_fetch_cont(&c->outcome.number, c->stmt, events);
}

static enum ma_operation end_stmt_fetch(struct mariadb_conn *c)
{
    struct mariadb_query *q = ma_first(c);

    if (c->outcome.number == MYSQL_NO_DATA)
        return end_result(c);
    if (c->outcome.number != 0 && c->outcome.number != MYSQL_DATA_TRUNCATED)
        return fail_stmt(c);
    if (ma_row_of_stmt(q, c->stmt) < 0)
        return fail_memory(c);
    return MA_STMT_FETCH;
}

static int start_stmt_next(struct mariadb_conn *c)
{
    return mysql_stmt_next_result_start(&c->outcome.number, c->stmt);
}

static int go_on_stmt_next(struct mariadb_conn *c, int events)
{
    return mysql_stmt_next_result_cont(&c->outcome.number, c->stmt, events);
}

static int start_stmt_close(struct mariadb_conn *c)
{
    return mysql_stmt_close_start(&c->outcome.is_bad, c->stmt);
}

static int go_on_stmt_close(struct mariadb_conn *c, int events)
{
    return mysql_stmt_close_cont(&c->outcome.is_bad, c->stmt, events);
}

static enum ma_operation end_stmt_close(struct mariadb_conn *c)
{
    c->stmt = NULL;
    return MA_NONE;
}

/* ---- connecting ---- */

static int go_on_connect(struct mariadb_conn *c, int events)
{
    return mysql_real_connect_cont(&c->outcome.my, c->my, events);
}

/* ---- the table ---- */

/* is_quiet: its end makes no call-back */
static const struct {
    int (*start)(struct mariadb_conn *c);
    int (*go_on)(struct mariadb_conn *c, int events);
    enum ma_operation (*next)(struct mariadb_conn *c);
    bool is_quiet;
} operations[] = {
    [MA_CONNECT] = {NULL, go_on_connect, NULL, false},
    [MA_QUERY] = {start_query, go_on_query, end_query, false},
    [MA_FETCH] = {start_fetch, go_on_fetch, end_fetch, false},
    [MA_NEXT] = {start_next, go_on_next, end_query, false},
    [MA_PREPARE] = {start_prepare, go_on_prepare, end_prepare, true},
    [MA_BIND] = {start_nothing, NULL, end_bind, true},
    [MA_EXECUTE] = {start_execute, go_on_execute, end_execute, false},
    [MA_STMT_FETCH] = {start_stmt_fetch, go_on_stmt_fetch, end_stmt_fetch, false},
    [MA_STMT_NEXT] = {start_stmt_next, go_on_stmt_next, end_execute, false},
    [MA_STMT_CLOSE] = {start_stmt_close, go_on_stmt_close, end_stmt_close, true},
};

static void start(struct mariadb_conn *c, enum ma_operation operation)
{
    c->operation = operation;
    c->waits = operation == MA_NONE ? 0 : operations[operation].start(c);
}

static void advance(struct mariadb_conn *c)
{
    start(c, operations[c->operation].next(c));
}

/* Events that the kernel has told of: time limits are ours. */
static int events_of(const struct mariadb_conn *c)
{
    return c->waits & (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE | MYSQL_WAIT_EXCEPT);
}

static void watch(struct mariadb_conn *c)
{
    db_conn_watch(&c->base, mysql_get_socket(c->my), c->waits & MYSQL_WAIT_WRITE);
}

void ma_break(struct mariadb_conn *c)
{
    const int fd = c->my ? mysql_get_socket(c->my) : -1;

    if (fd >= 0)
        (void)shutdown(fd, SHUT_RDWR); /* or libmariadb would block to say good-bye */
    for (int i = 0; c->waits && i < BREAKS_MAX; i++)
        c->waits = operations[c->operation].go_on(c, MYSQL_WAIT_TIMEOUT);
    if (c->operation == MA_STMT_CLOSE && !c->waits)
        c->stmt = NULL;
    c->operation = MA_NONE;
}

/* ---- connections ---- */

/* libmariadb goes on in plain text with a server that has no TLS, unless its certificate is to be checked. */
static bool is_as_asked(const struct mariadb_conn *c)
{
    const struct db_pool *p = c->base.pool;
    const struct ma_target *t = p ? (const struct ma_target *)(const void *)p->target : c->own;

    return !t->has_tls || mysql_get_ssl_cipher(c->my);
}

/* It may go on with another socket. */
static void look_at_connecting(struct mariadb_conn *c)
{
    if (c->waits) {
        db_conn_unwatch(&c->base);
        watch(c);
        return;
    }
    c->operation = MA_NONE;
    if (!c->outcome.my) {
        db_conn_lose(&c->base, mysql_error(c->my));
        return;
    }
    if (!is_as_asked(c)) {
        db_conn_lose(&c->base, "the server has no TLS");
        return;
    }
    db_conn_unwatch(&c->base);
    watch(c);
    db_conn_connected(&c->base);
}

void ma_begin_to_connect(struct mariadb_conn *c, const struct ma_target *t)
{
    const char *host = t->host && t->host[0] ? t->host : NULL;

    c->my = ma_target_handle(t);
    if (!c->my) {
        db_conn_lose(&c->base, db_no_memory);
        return;
    }
    c->operation = MA_CONNECT;
    c->waits =
        mysql_real_connect_start(&c->outcome.my, c->my, host, t->user, t->password, t->db, t->port,
                                 t->unix_socket, t->flags & ~(unsigned long)CLIENT_LOCAL_FILES);
    if (c->waits) {
        watch(c);
        return;
    }
    c->base.has_event = true; /* as if: call-backs are made later */
    db_conn_turn(&c->base);
}

void ma_go_on(struct mariadb_conn *c)
{
    if (c->waits)
        c->waits = mysql_real_connect_cont(&c->outcome.my, c->my, events_of(c));
    look_at_connecting(c);
}

/* ---- queries ---- */

static enum ma_operation first_operation(struct mariadb_conn *c, struct mariadb_query *q)
{
    const struct db_kept *k;

    if (q->base.kind == MA_TEXT)
        return MA_QUERY;
    k = db_kept_find(&c->base, q->base.sql);
    c->is_kept = k != NULL;
    c->stmt = k ? k->handle : mysql_stmt_init(c->my);
    return k ? MA_BIND : MA_PREPARE;
}

/* commit() has a ROLLBACK: what a failed statement has left of a transaction is not committed. */
static void prepare_end(struct mariadb_conn *c, struct mariadb_query *q)
{
    if (q->base.is_begin)
        c->has_failed = false;
    if (q->is_commit && c->has_failed)
        db_query_fail(&q->base, "a statement of the transaction has failed: it was rolled back",
                      "40000");
    else if (q->is_commit)
        memcpy(q->base.sql, "COMMIT", sizeof("COMMIT"));
}

static void pause_or_watch(struct mariadb_conn *c)
{
    if (c->waits)
        watch(c);
    else
        db_conn_turn(&c->base);
}

void ma_send(struct mariadb_conn *c)
{
    struct mariadb_query *q = ma_first(c);
    const enum ma_operation operation = first_operation(c, q);

    if (operation == MA_PREPARE && !c->stmt) {
        db_conn_lose(&c->base, db_no_memory);
        return;
    }
    prepare_end(c, q);
    c->base.has_event = false;
    start(c, operation);
    while (!c->waits && c->operation != MA_NONE && operations[c->operation].is_quiet)
        advance(c);
    if (c->base.state == DB_READY)
        pause_or_watch(c);
}

enum db_progress ma_receive(struct mariadb_conn *c)
{
    if (c->waits) {
        if (!c->base.has_event)
            return DB_WAITS;
        c->base.has_event = false;
        c->waits = operations[c->operation].go_on(c, events_of(c));
    }
    for (int i = 0; i < OPERATIONS_A_TURN && !c->waits && c->operation != MA_NONE; i++)
        advance(c);
    if (c->operation == MA_NONE)
        return DB_ENDED;
    pause_or_watch(c);
    return DB_WAITS;
}
