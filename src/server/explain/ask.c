/* SPDX-License-Identifier: Apache-2.0 */
#include "server/explain/explain.h"

#include "base/code.h"
#include "base/limits.h"
#include "server/explain/stand_in.h"
#include "server/explain/steps.h"
#include "server/explain/tell.h"
#include "server/h1/conn.h"
#include "server/h1/conn_stage.h"
#include "server/h1/endpoint.h"
#include "server/memory/memory.h"
#include "server/request/wire.h"
#include "server/run/server.h"
#include "server/worker/worker.h"

#include <stdio.h>

/* One request, from memory, with a client that has an address: a server without threads and sockets answers it. */

enum {
    TURN_MS = 100,
    TURNS_MAX = 300, /* a slow hash of a password is checked in one of its threads */
};

struct question {
    struct mk_memory memory;
    struct mk_carried_kind kind;
    struct mk_wire wire;
    struct mk_conn conn;
    struct mk_endpoint endpoint;
    struct mk_explain *e;
    bool is_gone;
};

static struct question *question_of(const struct mk_carried *c)
{
    return MK_CONTAINER_OF((struct mk_carried *)(uintptr_t)c, struct question, memory.carried);
}

/* ---- its wire: that of memory, but bodies are not read ---- */

static enum mk_pump skip_part(struct mk_request *r, struct mk_source *s, size_t *budget)
{
    (void)r, (void)budget;
    s->at = s->end;
    return MK_PUMP_DONE;
}

static enum mk_pump skip_piece(struct mk_request *r, const char *bytes, size_t len)
{
    (void)r, (void)bytes, (void)len;
    return MK_PUMP_DONE;
}

static void write_peer(const struct mk_request *r, char dst[MK_PEER_TEXT])
{
    (void)mk_conn_peer(r->conn, dst);
}

static void tell_end(struct mk_carried *c, int error)
{
    struct question *q = question_of(c);

    (void)error;
    mk_explain_tell_end(q->e, &c->request, mk_buf_str(&q->memory.head));
}

static void note_gone(struct mk_carried *c)
{
    question_of(c)->is_gone = true;
}

/* ---- its client ---- */

static void init_client(struct question *q, struct mk_worker *w)
{
    const struct mk_listen *listen = q->e->listen;
    const struct mk_transport *transport = listen ? listen->via.transport : NULL;

    q->conn.worker = w;
    q->conn.id = w->next_id++;
    q->conn.peer = q->e->from;
    q->conn.endpoint = &q->endpoint;
    q->conn.link =
        (struct mk_link){.transport = transport ? transport : &mk_transport_liana, .fd = -1};
    (void)snprintf(q->endpoint.text, sizeof(q->endpoint.text), "%s",
                   listen ? listen->text : "memory");
}

/* ---- the request ---- */

static void init(struct question *q, struct mk_worker *w)
{
    struct mk_memory *m = &q->memory;

    q->wire = mk_memory_wire;
    q->wire.send_part = skip_part;
    q->wire.send_piece = skip_piece;
    q->wire.peer = write_peer;
    q->kind = (struct mk_carried_kind){.wire = &q->wire, .tell = tell_end, .free = note_gone};
    m->shared = w->shared;
    m->worker = w;
    mk_buf_init(&m->in, 1);
    mk_buf_init(&m->head, MK_LIMIT_ANSWER_HEAD);
    mk_buf_init(&m->body, 1);
    mk_buf_init(&m->trailers, MK_LIMIT_TRAILERS);
    mk_carried_init(&m->carried, &q->kind);
}

static void fini(struct question *q)
{
    mk_buf_fini(&q->memory.in);
    mk_buf_fini(&q->memory.head);
    mk_buf_fini(&q->memory.body);
    mk_buf_fini(&q->memory.trailers);
}

static void ask(struct question *q, struct mk_worker *w)
{
    struct mk_carried *c = &q->memory.carried;

    init(q, w);
    mk_carried_begin(c, w, q->conn.id, NULL, 0);
    c->request.conn = &q->conn;
    c->request.is_secure = q->conn.link.transport->is_secure;
    mk_carried_route(c, q->e->head, false, false);
    for (int i = 0; i < TURNS_MAX && !q->is_gone; i++)
        mk_loop_turn(&w->loop, i == 0 ? 0 : TURN_MS, NULL, NULL);
    mk_carried_end(c, MK_E_TIMEOUT);
    while (!q->is_gone)
        mk_loop_turn(&w->loop, 0, NULL, NULL);
    fini(q);
}

static void ask_on(struct mk_worker *w, void *arg)
{
    struct mk_explain *e = arg;
    struct question q = {.e = e};

    if (e->on_ready)
        e->on_ready(e->arg);
    init_client(&q, w);
    if (mk_conn_ask_accept(&q.conn))
        ask(&q, w);
    else
        e->is_closed = true;
}

/* ---- the server ---- */

static int ask_server(struct mk_explain *e, struct mk_server *server)
{
    struct mk_log *log = &mk_shared_of(server)->log;
    int err;

    mk_log_set_levels(log, MK_LOG_INFO, 0, 0);
    log->take = mk_explain_take_line;
    log->take_arg = e;
    err = mk_server_alone(server, ask_on, e);
    if (err < 0)
        mk_explain_step(e, "server", NULL, NULL, "%s", mk_server_why(server));
    return err == MK_E_NOMEM || err == 0 ? err : MK_E_INVALID;
}

static int make_and_ask(struct mk_explain *e)
{
    struct mk_server_settings *set = &e->snapshot->set;
    const int64_t workers = set->workers;
    struct mk_server *server;
    int err = MK_E_NOMEM;

    set->workers = 1;
    server = mk_server_create(e->snapshot, e->host);
    if (server)
        err = ask_server(e, server);
    mk_server_free(server);
    set->workers = workers;
    return err;
}

MK_AT_START int mk_explain_ask(struct mk_explain *e)
{
    int err = mk_stand_ins_put(e);

    if (err == 0)
        err = make_and_ask(e);
    mk_stand_ins_take(e);
    return err == 0 && e->no_memory ? MK_E_NOMEM : err;
}
