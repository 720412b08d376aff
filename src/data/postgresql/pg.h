/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DATA_POSTGRESQL_PG_H
#define MK_DATA_POSTGRESQL_PG_H

#include "data/sql/database.h"

#include <libpq-fe.h>
#include <stdatomic.h>

struct mk_worker;

/* What drivers of libpq have in common. Each struct begins with that of data/sql/database.h; users' begin with these. */

enum { PG_NAME_MAX = 253 }; /* RFC 1035 section 2.3.4 */

struct pg_target {
    struct db_target base;
    char **keys, **values; /* end with NULL */
    unsigned count, room;
    char *name;          /* of the host, to be looked up; NULL: it has addresses, or is a socket */
    atomic_uint nfailed; /* attempts by name that came to nothing, of all workers */
    unsigned connect_ms; /* to connect, its look-up included */
};

enum pg_kind { PG_TEXT, PG_PARAMS, PG_PREPARED, PG_KEPT }; /* PG_PREPARED: sql is the name */

struct pg_query {
    struct db_query base;
    int result_format;
    void (*on_result)(struct pg_query *q, void *request); /* NULL: of no interest */
    void (*on_row)(struct pg_query *q, void *request);    /* likewise */
    bool is_commit;
    bool is_preparing;   /* PG_KEPT: PREPARE is under way */
    bool is_out_of_date; /* PG_KEPT: the server has forgotten what was kept */
    bool has_result;     /* on_result was called for the result under way */
    char **fields, **row;
    int columns;
    const PGresult *result; /* within on_row */
    long long rows;
};

struct pg_conn {
    struct db_conn base;
    PGconn *pg; /* NULL: no memory for it */
};

/* ---- driver.c: functions of a driver ---- */

/** A target without a name. */
unsigned pg_connect(struct db_conn *conn, const struct db_target *target);
/** One whose name has these addresses, in a list of libpq. @param hosts  the name, once for each */
void pg_connect_at(struct db_conn *conn, const struct pg_target *t, const char *hosts,
                   const char *addresses);
void pg_connect_on(struct db_conn *conn);
void pg_set_up(struct db_conn *conn);
void pg_send(struct db_conn *conn);
enum db_progress pg_receive(struct db_conn *conn);
/** Take what the server has sent. A connection that has none any more is lost. */
void pg_input(struct db_conn *conn);
bool pg_is_in_transaction(const struct db_conn *conn);
void pg_limit_text(char *sql, size_t room, unsigned limit_ms);
void pg_free_conn(struct db_conn *conn);
void pg_free_query(struct db_query *base);

/* ---- target.c ---- */

/**
 * Read keywords and values of libpq, which would block while it looked up a name.
 * @param expand_dbname  dbname may be a URI
 * @param takes_name     the host may be a name, which the caller looks up; else it is refused
 * @param why            out, without a password; db_no_memory itself if memory is missing
 * @return NULL: refused
 */
struct pg_target *pg_target_new(const char *const *keys, const char *const *values,
                                int expand_dbname, bool takes_name, const char **why);
/** NULL is allowed. */
void pg_target_free(struct pg_target *t);

/* ---- names.c: for programs ---- */

struct pg_lookup;

/** Begins the connection of a driver whose targets may have names. */
struct pg_named {
    struct pg_conn base;
    struct pg_target *target; /* NULL: it has no name */
    struct pg_lookup *lookup; /* under way; NULL: none */
};

/** For struct db_driver: connect one of a pool by the name of its target, without blocking the worker. @param w  that of the home */
unsigned pg_named_connect(struct db_conn *conn, struct mk_worker *w);
/** Likewise: no more can be made of it. The target lives. */
void pg_named_free(struct db_conn *conn);

/* ---- query.c ---- */

/** A result of the server. */
void pg_query_take(struct pg_query *q, const PGresult *result);

#endif
