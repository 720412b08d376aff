/* SPDX-License-Identifier: Apache-2.0 */
#include "ma.h"

#include <stdio.h>

/* Connections by libmariadb's calls that do not block. */

/* connect_timeout of libmariadb would be counted for its blocking calls. */
static unsigned begin_to_connect(struct db_conn *conn, const struct db_target *t)
{
    ma_begin_to_connect(ma_conn(conn), (const struct ma_target *)(const void *)t);
    return 0;
}

static void connect_on(struct db_conn *conn)
{
    ma_go_on(ma_conn(conn));
}

static void transmit(struct db_conn *conn)
{
    if (!conn->is_sent)
        ma_send(ma_conn(conn));
}

static enum db_progress receive(struct db_conn *conn)
{
    return ma_receive(ma_conn(conn));
}

/* Nothing was asked for: it has closed the connection, or says why it will. */
static void take_input(struct db_conn *conn)
{
    if (!conn->first)
        db_conn_lose(conn, "the server has closed the connection");
}

static void lost(struct db_conn *conn)
{
    ma_break(ma_conn(conn));
}

static bool is_in_transaction(const struct db_conn *conn)
{
    const struct mariadb_conn *c = (const struct mariadb_conn *)(const void *)conn;

    return c->my->server_status & SERVER_STATUS_IN_TRANS;
}

static void limit_text(char *sql, size_t room, unsigned limit_ms)
{
    const unsigned ms = limit_ms - limit_ms / 10;

    (void)snprintf(sql, room, "SET max_statement_time = %u.%03u", ms / 1000, ms % 1000);
}

/* ---- call-backs and the end ---- */

static void tell_connected(struct db_conn *conn, int status, void *dr)
{
    struct mariadb_conn *c = ma_conn(conn);
    mariadb_connect_cb *cb = c->on_connect;

    c->on_connect = NULL;
    if (cb)
        cb(c, status, dr);
}

static void tell_disconnected(struct db_conn *conn, int status, void *dr)
{
    struct mariadb_conn *c = ma_conn(conn);
    mariadb_disconnect_cb *cb = c->on_disconnect;

    c->on_disconnect = NULL;
    if (cb)
        cb(c, status, dr);
    ma_results_free(c);
    c->last_error[0] = '\0';
}

static void finish(struct db_query *base, void *dr)
{
    struct mariadb_query *q = ma_query(base);

    if (q->on_begin)
        q->on_begin(base->priv, base->error ? NULL : ma_conn(base->conn), base->error, dr);
    else if (q->on_end)
        q->on_end(base->priv, q, dr);
}

/* Statements of a connection that is closed have no more than memory. */
static void free_conn(struct db_conn *conn)
{
    struct mariadb_conn *c = ma_conn(conn);

    if (conn->state != DB_READY || c->operation != MA_NONE)
        ma_break(c);
    if (c->result)
        mysql_free_result(c->result);
    if (c->my)
        mysql_close(c->my);
    for (struct db_kept *k = conn->kept; k < conn->kept + DB_KEPT_MAX && k->sql; k++)
        (void)mysql_stmt_close(k->handle);
    if (c->stmt && !c->is_kept)
        (void)mysql_stmt_close(c->stmt);
    ma_results_free(c);
    ma_target_free(c->own);
}

static void free_query(struct db_query *base)
{
    ma_rows_free(ma_query(base));
}

const struct db_driver ma_driver = {
    .conn_size = sizeof(struct mariadb_conn),
    .pool_size = sizeof(struct db_pool),
    .query_size = sizeof(struct mariadb_query),
    .connect = begin_to_connect,
    .connect_on = connect_on,
    .send = transmit,
    .receive = receive,
    .lost = lost,
    .input = take_input,
    .is_in_transaction = is_in_transaction,
    .limit_text = limit_text,
    .connected = tell_connected,
    .disconnected = tell_disconnected,
    .finish = finish,
    .free_conn = free_conn,
    .free_query = free_query,
};

struct db_package ma_package = {.driver = &ma_driver};
