/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_POSTGRESQL_PG_H
#define MK_DUDA_POSTGRESQL_PG_H

#include "data/postgresql/pg.h"
#include "remote/db_service.h"

#include "packages/postgresql/postgresql.h"

/* What services have of libpq. */

enum { PG_CHANNELS_MAX = 64 };

struct postgresql_query {
    union {
        struct pg_query own;
        struct db_query base; /* of it */
    };
    postgresql_query_result_cb *on_result;
    postgresql_query_row_cb *on_row;
    postgresql_query_end_cb *on_end;
    postgresql_begin_cb *on_begin; /* in place of on_end */
};

struct postgresql_conn {
    union {
        struct pg_conn own;
        struct db_conn base; /* of it */
    };
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

extern struct db_package pg_package;

/** A new query of the driver: its call-backs are those of services. */
void pg_query_tells(struct postgresql_query *q);

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
