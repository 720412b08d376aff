/* SPDX-License-Identifier: Apache-2.0 */
#include "pg.h"

/* The driver of services: their call-backs, and channels. */

static struct postgresql_conn *conn_of(struct db_conn *conn)
{
    return (struct postgresql_conn *)(void *)conn;
}

static void set_up(struct db_conn *conn)
{
    pg_set_up(conn);
    if (conn->is_apart)
        pg_ear_listen((struct pg_pool *)(void *)conn->pool);
}

static void take_input(struct db_conn *conn)
{
    pg_input(conn);
    if (conn->state == DB_READY)
        pg_ear_hear(conn_of(conn));
}

static void tell_connected(struct db_conn *conn, int status, void *dr)
{
    struct postgresql_conn *c = conn_of(conn);
    postgresql_connect_cb *cb = c->on_connect;

    c->on_connect = NULL;
    if (cb)
        cb(c, status, dr);
}

static void tell_disconnected(struct db_conn *conn, int status, void *dr)
{
    struct postgresql_conn *c = conn_of(conn);
    postgresql_disconnect_cb *cb = c->on_disconnect;

    c->on_disconnect = NULL;
    if (cb)
        cb(c, status, dr);
}

static void finish(struct db_query *base, void *dr)
{
    struct postgresql_query *q = (struct postgresql_query *)(void *)base;
    struct postgresql_conn *c = conn_of(base->conn);

    q->own.result = NULL;
    if (q->on_begin)
        q->on_begin(base->priv, base->error ? NULL : c, base->error, dr);
    else if (q->on_end)
        q->on_end(base->priv, q, dr);
}

static void tell_result(struct pg_query *own, void *dr)
{
    struct postgresql_query *q = (struct postgresql_query *)(void *)own;

    if (q->on_result)
        q->on_result(q->base.priv, q, own->columns, own->fields, dr);
}

static void tell_row(struct pg_query *own, void *dr)
{
    struct postgresql_query *q = (struct postgresql_query *)(void *)own;

    if (q->on_row)
        q->on_row(q->base.priv, q, own->columns, own->fields, own->row, dr);
}

void pg_query_tells(struct postgresql_query *q)
{
    q->own.on_result = tell_result;
    q->own.on_row = tell_row;
}

static const struct db_driver driver = {
    .conn_size = sizeof(struct postgresql_conn),
    .pool_size = sizeof(struct pg_pool),
    .query_size = sizeof(struct postgresql_query),
    .connect = pg_connect,
    .connect_on = pg_connect_on,
    .set_up = set_up,
    .send = pg_send,
    .receive = pg_receive,
    .input = take_input,
    .is_in_transaction = pg_is_in_transaction,
    .limit_text = pg_limit_text,
    .connected = tell_connected,
    .disconnected = tell_disconnected,
    .finish = finish,
    .free_conn = pg_free_conn,
    .free_query = pg_free_query,
    .free_pool = pg_channels_free,
    .apart_is_gone = pg_ear_is_gone,
    .tick = pg_ear_open,
};

struct db_package pg_package = {.driver = &driver};
