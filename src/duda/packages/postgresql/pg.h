/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_POSTGRESQL_PG_H
#define MK_DUDA_POSTGRESQL_PG_H

#include "remote/database.h"

#include "packages/postgresql/postgresql.h"

#include <libpq-fe.h>

/* The driver of libpq. Each struct begins with that of remote/database.h. */

enum { PG_CHANNELS_MAX = 64 };

struct pg_target {
    struct db_target base;
    char **keys, **values; /* end with NULL */
    unsigned count, room;
};

enum pg_kind { PG_TEXT, PG_PARAMS, PG_PREPARED, PG_KEPT }; /* PG_PREPARED: sql is the name */

struct postgresql_query {
    struct db_query base;
    int result_format;
    postgresql_query_result_cb *on_result;
    postgresql_query_row_cb *on_row;
    postgresql_query_end_cb *on_end;
    postgresql_begin_cb *on_begin; /* in place of on_end */
    bool is_commit;
    bool is_preparing;   /* PG_KEPT: PREPARE is under way */
    bool is_out_of_date; /* PG_KEPT: the server has forgotten what was kept */
    bool has_result;     /* on_result was called for the result under way */
    char **fields, **row;
    int columns;
    const PGresult *result; /* within on_row */
    long long rows;
};

struct postgresql_conn {
    struct db_conn base;
    PGconn *pg; /* NULL: no memory for it */
    postgresql_connect_cb *on_connect;
    postgresql_disconnect_cb *on_disconnect;
};

struct pg_channel {
    struct pg_channel *next;
    postgresql_notify_cb *cb;
    void *priv;
    char *name, *sql; /* LISTEN */
};

struct pg_pool {
    struct db_pool base;
    struct pg_channel *channels;
    struct postgresql_conn *ear; /* a connection apart, which hears for them */
};

/* ---- driver.c ---- */

extern const struct db_driver pg_driver;
extern duda_global_t pg_homes;

/* ---- target.c ---- */

/** @return NULL: logged with the name of the call */
struct pg_target *pg_target_new(const char *call, const char *const *keys,
                                const char *const *values, int expand_dbname);
void pg_target_free(struct pg_target *t);

/* ---- query.c ---- */

/** The last call-back. */
void pg_query_finish(struct db_query *base, duda_request_t *dr);
void pg_query_free(struct db_query *base);
/** A result of the server. */
void pg_query_take(struct postgresql_query *q, const PGresult *result);

/* ---- listen.c ---- */

int pg_listen(duda_global_t *pool, const char *channel, postgresql_notify_cb *cb, void *priv);
int pg_unlisten(duda_global_t *pool, const char *channel);
/** Connect for the channels, if there are any, and it is time. @return whether there is none yet */
bool pg_ear_open(struct db_pool *pool);
/** It is connected. */
void pg_ear_listen(struct pg_pool *p);
/** What has been sent to it. */
void pg_ear_hear(struct postgresql_conn *c);
/** It is lost. */
void pg_ear_is_gone(struct db_pool *pool);
void pg_channels_free(struct db_pool *pool);

#endif
