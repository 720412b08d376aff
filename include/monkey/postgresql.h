/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_POSTGRESQL_H
#define MONKEY_POSTGRESQL_H

/*
 * A client of PostgreSQL for handlers: queries are sent without waiting, and their rows come by callback on the request's
 * worker. In libmonkey-postgresql: pkg-config --libs monkey-postgresql.
 *
 *     static enum mk_verdict show(struct mk_request *r, const struct mk_postgresql_answer *answer, void *arg)
 *     {
 *         if (answer->result < 0)
 *             return mk_reply_failure(r, answer->result);
 *         if (answer->nrows == 0)
 *             return mk_reply_error(r, 404, NULL);
 *         return mk_reply_bytes(r, 200, "text/plain", mk_postgresql_value(answer, 0, 0));
 *     }
 *
 *     static enum mk_verdict item(struct mk_request *r, void *database)
 *     {
 *         const struct mk_str id = mk_path_value(r, MK_STR("id"));
 *         int err;
 *
 *         if (mk_later_waits(r))
 *             return MK_VERDICT_LATER;
 *         err = mk_postgresql_ask(database, r, "SELECT name FROM items WHERE id = $1::int", &id, 1, show, NULL);
 *         return err < 0 ? mk_reply_failure(r, err) : MK_VERDICT_LATER;
 *     }
 *
 * A program makes a client before its server starts, and all workers share it. A connection has one query under way, and
 * keeps the last 32 statements prepared; queries of a worker wait for its connections in their order. A lost connection is
 * made anew. If that fails, it is tried again after 100 ms, then less and less often, up to every 10 s; until then queries
 * are refused at once with MK_E_PEER.
 */

#include <monkey/web/later.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_postgresql;

/** What a client is made of. 0 and NULL are the defaults. */
struct mk_postgresql_options {
    size_t size; /* sizeof(struct mk_postgresql_options) */
    /**
     * postgresql://[USER[:PASSWORD]@][HOST][:PORT][/DATABASE][?KEY=VALUE[&...]], as of libpq, with its keys for TLS (sslmode,
     * sslrootcert). The host is a name, which is looked up without blocking the worker and compared with the certificate by
     * sslmode=verify-full; a list of addresses, which libpq tries in their order, as it does those of a name; localhost, which is
     * 127.0.0.1; or a folder of Unix sockets. One silent address of several takes all of the time limit, and the next attempt begins
     * with another one. Copied.
     */
    const char *url;
    unsigned
        connections; /* of all workers together, at most 1024; 0: 16. A worker that has none while others have all gets one within some 100 ms */
    unsigned
        timeout_ms; /* to wait for a connection, to connect, and of a query, each; 100 to 3600000; 0: 5000. The server ends a query a tenth before */
    unsigned
        queries; /* of each worker that wait for a connection, at most 1048576; more are refused, unless a connection may be opened for them; 0: 1024 */
    size_t answer_max; /* bytes of the values of an answer; 0: 8 MB */
};

/**
 * Make a client. Nothing is connected before it is needed.
 * @param options  copied
 * @param why      out, on MK_E_INVALID: what is wrong, for people, without the password; static. NULL: not wanted
 * @return 0, MK_E_INVALID or MK_E_NOMEM. Any thread.
 */
MK_API int mk_postgresql_new(struct mk_postgresql **database,
                             const struct mk_postgresql_options *options,
                             const char **why) MK_MUST_USE;

/**
 * Free it with its connections: after mk_server_wait() of its server, or when that was never started, and before mk_server_free(). NULL
 * is allowed. Queries that have not ended are forgotten, and no callback is called.
 */
MK_API void mk_postgresql_free(struct mk_postgresql *database);

struct mk_postgresql_rows;

/** How a query has ended. Borrowed until the callback returns. */
struct mk_postgresql_answer {
    size_t size; /* of the library's struct */
    /**
     * 0; MK_E_INVALID: the server refused the query, with a state; MK_E_BUSY: no connection became free in time; MK_E_PEER: the
     * server cannot be connected to; in these cases nothing was done. MK_E_TIMEOUT: it took too long; MK_E_EOF: the connection
     * ended before the answer; the server may have carried it out then. MK_E_LIMIT: the answer has more than answer_max; MK_E_NOMEM.
     */
    int result;
    const char *text;   /* what happened, in words, for logs */
    const char *state;  /* SQLSTATE of an error of the server, such as "23505"; else "" */
    size_t nrows;       /* without an error */
    unsigned ncolumns;  /* likewise */
    long long affected; /* rows that a command changed, or that it gave */
    const struct mk_postgresql_rows *rows;
};

/** @return a value as text, terminated, valid as long as the answer; {NULL, 0}: it is null, or there is none. */
MK_API struct mk_str mk_postgresql_value(const struct mk_postgresql_answer *answer, size_t row,
                                         unsigned column);
/** @return the name of a column, likewise. */
MK_API struct mk_str mk_postgresql_name(const struct mk_postgresql_answer *answer, unsigned column);

/**
 * @return MK_VERDICT_DONE: the request is answered, and no other callback of it is called; MK_VERDICT_LATER: another query, or
 *         another callback, will answer it.
 */
typedef enum mk_verdict (*mk_postgresql_fn)(struct mk_request *r,
                                            const struct mk_postgresql_answer *answer, void *arg);

/**
 * Send a query. Several at once are allowed, over several connections in any order, and their answers come one by one. A client that goes
 * away ends its request: a query that waits is taken back, one that runs keeps its connection until it or its time is over, and fn is not
 * called. Likewise when HandlerTimeout expires.
 * @param r        in its handler, which then returns MK_VERDICT_LATER, or in a callback of it
 * @param sql      one statement, with $1, $2 ... for values; terminated, copied. One that begins a transaction is rolled back when it
 *                 ends
 * @param values   as text; p NULL: null. Copied; without NUL bytes
 * @param nvalues  up to 65535
 * @param fn       called once on the worker, never inside this call, unless the request ends before
 * @param arg      passed to fn; memory of mk_request_alloc() lives long enough
 * @return 0; MK_E_BUSY: too many queries of this worker wait; MK_E_PEER: the server cannot be connected to; MK_E_INVALID: a value has a NUL
 *         byte, or the client belongs to another server of this program; MK_E_NOMEM. On error fn is not called.
 */
MK_API int mk_postgresql_ask(struct mk_postgresql *database, struct mk_request *r, const char *sql,
                             const struct mk_str *values, size_t nvalues, mk_postgresql_fn fn,
                             void *arg) MK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
