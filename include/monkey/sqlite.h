/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_SQLITE_H
#define MONKEY_SQLITE_H

/*
 * Databases of SQLite for handlers: statements run on threads of the server, and their rows come by callback on the request's
 * worker, which serves others meanwhile. In libmonkey-sqlite: pkg-config --libs monkey-sqlite.
 *
 *     static enum mk_verdict show(struct mk_request *r, const struct mk_sqlite_answer *answer, void *arg)
 *     {
 *         if (answer->result < 0)
 *             return mk_reply_failure(r, answer->result);
 *         if (answer->nrows == 0)
 *             return mk_reply_error(r, 404, NULL);
 *         return mk_reply_bytes(r, 200, "text/plain", mk_sqlite_text(answer, 0, 0));
 *     }
 *
 *     static enum mk_verdict item(struct mk_request *r, void *database)
 *     {
 *         const struct mk_sqlite_value id = mk_sqlite_from_text(mk_path_value(r, MK_STR("id")));
 *         const struct mk_sqlite_statement find = {"SELECT name FROM items WHERE id = ?", &id, 1};
 *         int err;
 *
 *         if (mk_later_waits(r))
 *             return MK_VERDICT_LATER;
 *         err = mk_sqlite_ask(database, r, &find, 1, show, NULL);
 *         return err < 0 ? mk_reply_failure(r, err) : MK_VERDICT_LATER;
 *     }
 *
 * A program opens a database before its server starts and makes its tables (mk_sqlite_run), and all workers share it. Each thread that runs statements (HandlerThreads of
 * the configuration) has a connection of its own, which keeps its last 32 statements prepared. The file has a write-ahead log, so who reads waits
 * for nobody; what is committed is on the disk (synchronous=FULL); foreign keys are enforced.
 */

#include <monkey/web/later.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_sqlite;

enum {
    MK_SQLITE_STATEMENTS = 64,   /* of one call */
    MK_SQLITE_VALUES = 32766,    /* of one statement */
    MK_SQLITE_ASK_MAX = 16 << 20 /* bytes of the texts and values of one call */
};

/** What a database is made of. 0 are the defaults. */
struct mk_sqlite_options {
    size_t size; /* sizeof(struct mk_sqlite_options) */
    const char *
        path; /* of the file, made if it is missing; no name of SQLite's own, such as ":memory:". Copied */
    unsigned busy_ms;  /* to wait for locks of other writers, at most 60000; 0: 1000 */
    unsigned threads;  /* calls that run at the same time, at most 32; 0: 4 */
    unsigned asks;     /* calls that wait or run; more are refused; 0: 1024 */
    size_t answer_max; /* bytes of the rows of an answer; 0: 8 MB */
};

/**
 * Open a database, on this thread.
 * @param options  copied
 * @param why      out, on an error: what is wrong, for people; static. NULL: not wanted
 * @return 0; MK_E_INVALID: options or path are missing, or the path is no file's; MK_E_LIMIT: more than the bounds above; MK_E_PEER: the file cannot
 *         be opened, or is no database; MK_E_NOMEM. Any thread.
 */
MK_API int mk_sqlite_new(struct mk_sqlite **database, const struct mk_sqlite_options *options,
                         const char **why) MK_MUST_USE;

/** Close it: after mk_server_free() of the server whose requests have asked it. NULL is allowed. */
MK_API void mk_sqlite_free(struct mk_sqlite *database);

/**
 * Run statements on this thread, which waits for them: to make tables before the server starts. Rows are not wanted.
 * @param sql  any number of statements, separated by semicolons; the first that fails is the last
 * @param why  out, on an error: as of mk_sqlite_new
 * @return 0; MK_E_BUSY, MK_E_INVALID, MK_E_PEER, MK_E_LIMIT or MK_E_NOMEM, as mk_sqlite_answer has them. Any thread that is no
 *         worker's; at most 64 threads together have connections.
 */
MK_API int mk_sqlite_run(struct mk_sqlite *database, const char *sql, const char **why) MK_MUST_USE;

/* ---- statements ---- */

enum mk_sqlite_type {
    MK_SQLITE_NULL,
    MK_SQLITE_INTEGER,
    MK_SQLITE_REAL,
    MK_SQLITE_TEXT, /* UTF-8 */
    MK_SQLITE_BLOB
};

/** A value of a statement or of a row. */
struct mk_sqlite_value {
    int type; /* enum mk_sqlite_type */
    int64_t integer;
    double real;
    struct mk_str bytes; /* of a text or blob */
};

static inline struct mk_sqlite_value mk_sqlite_from_int(int64_t integer)
{
    struct mk_sqlite_value value = {MK_SQLITE_INTEGER, integer, 0, {NULL, 0}};

    return value;
}

static inline struct mk_sqlite_value mk_sqlite_from_real(double real)
{
    struct mk_sqlite_value value = {MK_SQLITE_REAL, 0, real, {NULL, 0}};

    return value;
}

/** @param text  p NULL: null */
static inline struct mk_sqlite_value mk_sqlite_from_text(struct mk_str text)
{
    struct mk_sqlite_value value = {text.p ? MK_SQLITE_TEXT : MK_SQLITE_NULL, 0, 0, text};

    return value;
}

/** @param bytes  p NULL: null */
static inline struct mk_sqlite_value mk_sqlite_from_blob(struct mk_str bytes)
{
    struct mk_sqlite_value value = {bytes.p ? MK_SQLITE_BLOB : MK_SQLITE_NULL, 0, 0, bytes};

    return value;
}

/** One statement of SQL, with a value for each of its parameters. */
struct mk_sqlite_statement {
    const char *
        sql; /* with ?, ?1, :name ... for values; terminated. Nothing but blanks follows the statement */
    const struct mk_sqlite_value *values;
    size_t nvalues;
};

/* ---- answers ---- */

struct mk_sqlite_rows;

/** How a call has ended. It lives as long as the request, and so do the values in it. */
struct mk_sqlite_answer {
    size_t size; /* of the library's struct */
    /**
     * 0; without a change of the file: MK_E_BUSY: another writer had the lock for too long; MK_E_INVALID: SQLite refused a
     * statement, or a constraint a value; MK_E_LIMIT: the rows are more than answer_max, or a value is too long; MK_E_PEER: the file cannot
     * be read or written, for example because the disk is full; MK_E_NOMEM.
     */
    int result;
    const char *text; /* what happened, in words, for logs */
    int code;         /* SQLite's, extended, of an error, such as 2067 (SQLITE_CONSTRAINT_UNIQUE) */
    size_t nrows;     /* of the last statement */
    unsigned ncolumns;
    int64_t changes; /* rows that the last INSERT, UPDATE or DELETE of this call has changed */
    int64_t
        last_id; /* of the last row that was inserted over the connection, by whichever call: look at it after an INSERT */
    const struct mk_sqlite_rows *rows;
};

/** @return a value; of the type MK_SQLITE_NULL where there is none. Its bytes are terminated. */
MK_API struct mk_sqlite_value mk_sqlite_value(const struct mk_sqlite_answer *answer, size_t row,
                                              unsigned column);
/** @return the bytes of a text or blob; {NULL, 0}: it is neither. */
MK_API struct mk_str mk_sqlite_text(const struct mk_sqlite_answer *answer, size_t row,
                                    unsigned column);
/** @return an integer; 0: it is none. */
MK_API int64_t mk_sqlite_int(const struct mk_sqlite_answer *answer, size_t row, unsigned column);
/** @return the name of a column; {NULL, 0}: there is no such column. */
MK_API struct mk_str mk_sqlite_name(const struct mk_sqlite_answer *answer, unsigned column);

/**
 * @return MK_VERDICT_DONE: the request is answered, and no other callback of it is called; MK_VERDICT_LATER: another call, or
 *         another callback, will answer it.
 */
typedef enum mk_verdict (*mk_sqlite_fn)(struct mk_request *r, const struct mk_sqlite_answer *answer,
                                        void *arg);

/**
 * Run a statement; or several in one transaction, of which all are carried out or none. Several calls at once are allowed, and
 * their answers come one by one, in any order. A client that goes away ends its request, and so does HandlerTimeout: a call that
 * waits is taken back, one that runs is interrupted and rolled back unless it is committed already, and fn is not called.
 * @param r            in its handler, which then returns MK_VERDICT_LATER, or in a callback of it
 * @param statements   copied with their values; what begins or ends a transaction, or changes the connection (PRAGMA, ATTACH), is refused
 * @param nstatements  1 to MK_SQLITE_STATEMENTS
 * @param fn           called once on the worker, never inside this call, unless the request ends before
 * @param arg          passed to fn; memory of mk_request_alloc() lives long enough
 * @return 0; MK_E_BUSY: too many calls wait or run; MK_E_LIMIT: more than the bounds above; MK_E_INVALID: something is missing; MK_E_EXISTS: a
 *         callback has answered the request; MK_E_NOMEM. On error fn is not called.
 */
MK_API int mk_sqlite_ask(struct mk_sqlite *database, struct mk_request *r,
                         const struct mk_sqlite_statement *statements, size_t nstatements,
                         mk_sqlite_fn fn, void *arg) MK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
