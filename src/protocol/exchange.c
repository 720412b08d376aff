/* SPDX-License-Identifier: Apache-2.0 */
#include "protocol/exchange.h"

#include "base/code.h"
#include "base/heap.h"
#include "base/limits.h"
#include "base/str.h"
#include "http/field.h"
#include "http/head_text.h"
#include "server/answer/reply.h"
#include "server/h1/budget.h"
#include "server/h1/conn.h"
#include "server/h1/endpoint.h"
#include "server/h1/hold.h"
#include "server/request/request_state.h"
#include "server/worker/worker.h"

/* Requests that a plugin's protocol carries: their beginning, their end, and the bytes of their answers. */

void mk_conn_limits(const struct mk_conn *c, struct mk_conn_limits *limits)
{
    const struct mk_server_settings *set = &c->worker->view->snapshot->set;

    *limits = (struct mk_conn_limits){
        .size = limits->size,
        .timeout_ms = (unsigned)set->timeout_ms,
        .keepalive_ms = (unsigned)set->keepalive_timeout_ms,
        .write_ms = (unsigned)set->write_timeout_ms,
        .max_head = (size_t)set->max_request_size,
        .max_fields = (unsigned)set->max_headers,
        .max_requests = (unsigned)set->max_keepalive_requests,
        .is_stopping = c->worker->stopping,
    };
}

void mk_conn_hold(struct mk_conn *c, size_t bytes)
{
    mk_conn_set_kept(c, bytes);
}

/* ---- its end ---- */

static struct mk_exchange *exchange_of(struct mk_carried *c)
{
    return MK_CONTAINER_OF(c, struct mk_exchange, carried);
}

static void tell(struct mk_carried *c, int error)
{
    struct mk_exchange *x = exchange_of(c);

    x->is_over = true;
    mk_budget_weigh_holder(&c->holder, 0);
    if (x->tunnel && error == 0) {
        mk_tunnel_open(x->tunnel);
        return;
    }
    if (x->tunnel)
        mk_tunnel_break(x->tunnel);
    if (!x->is_broken)
        x->carrier->end(x->arg, error);
}

static void free_exchange(struct mk_carried *c)
{
    struct mk_exchange *x = exchange_of(c);

    mk_heap_free(x->long_text);
    mk_buf_fini(&x->rest);
    mk_carried_free_block(c->request.worker, x);
}

/* The block alone is what each request has, for however long it waits. */
static size_t weight_of(const struct mk_exchange *x)
{
    const struct mk_request *r = &x->carried.request;
    size_t beyond = x->long_size + x->rest.cap + r->held;

    if (r->arena.used > MK_JOB_ARENA)
        beyond += r->arena.used;
    return beyond > 0 ? MK_INPUT_SIZE + beyond : 0;
}

/* Outside of a pull, nothing is sent: its protocol is to pull. */
static int after_turn(struct mk_carried *c, enum mk_pump verdict)
{
    struct mk_exchange *x = exchange_of(c);

    if (verdict != MK_PUMP_DONE)
        mk_budget_weigh_holder(&c->holder, weight_of(x));
    if (verdict == MK_PUMP_READER && !x->dst)
        x->carrier->ready(x->arg);
    return 0;
}

static const struct mk_carried_kind kind = {
    .wire = &mk_exchange_wire,
    .after_turn = after_turn,
    .tell = tell,
    .free = free_exchange,
};

static void make_room(struct mk_holder *h)
{
    struct mk_carried *c = MK_CONTAINER_OF(h, struct mk_carried, holder);

    if (c->request.status == 0)
        c->request.status = 503;
    mk_carried_end(c, MK_E_NOMEM);
}

void mk_exchange_break(struct mk_exchange *x)
{
    struct mk_request *r = &x->carried.request;

    x->is_broken = true;
    if (r->status == 0)
        r->status = MK_STATUS_CLIENT_LEFT;
    mk_carried_end(&x->carried, MK_E_PEER);
}

/* ---- its beginning ---- */

static bool wants_upgrade(const struct mk_exchange_head *head)
{
    return head->size >= offsetof(struct mk_exchange_head, upgrade) + sizeof(head->upgrade) &&
           head->upgrade.len > 0;
}

static bool takes_trailers(const struct mk_exchange_head *head)
{
    return head->size >=
               offsetof(struct mk_exchange_head, takes_trailers) + sizeof(head->takes_trailers) &&
           head->takes_trailers && !wants_upgrade(head);
}

static enum mk_head_fields known(const struct mk_exchange_head *head)
{
    bool is_judged =
        head->size >= offsetof(struct mk_exchange_head, is_judged) + sizeof(head->is_judged) &&
        head->is_judged;

    return is_judged ? MK_HEAD_FIELDS_JUDGED : MK_HEAD_FIELDS_ANY;
}

static bool has_text(const struct mk_exchange_head *head)
{
    return head->size >= offsetof(struct mk_exchange_head, text) + sizeof(head->text) &&
           head->text.len > 0;
}

static void write_upgrade(struct mk_buf *b, struct mk_str protocol)
{
    (void)mk_buf_append_str(b, MK_STR("Connection: Upgrade\r\nUpgrade: "));
    (void)mk_buf_append_str(b, protocol);
    (void)mk_buf_append_str(b, MK_STR("\r\n"));
}

static int write_head(struct mk_buf *b, const struct mk_exchange_head *head)
{
    bool is_upgrade = wants_upgrade(head);
    int err;

    if (has_text(head))
        return mk_head_text_copy(b, head->method, head->target, head->text);
    if (is_upgrade && (head->has_body || !mk_field_is_name(head->upgrade)))
        return MK_E_INVALID;
    err =
        mk_head_text(b, head->method, head->target, head->fields, known(head),
                     head->has_body && head->content_length > 0 ? (size_t)head->content_length : 0);
    if (err < 0 || (!head->expects_continue && !is_upgrade && !takes_trailers(head)))
        return err;
    b->len -= 2; /* the empty line */
    if (head->expects_continue)
        (void)mk_buf_append_str(b, MK_STR("Expect: 100-continue\r\n"));
    if (takes_trailers(head))
        (void)mk_buf_append_str(b, MK_STR("TE: trailers\r\nConnection: TE\r\n"));
    if (is_upgrade)
        write_upgrade(b, head->upgrade);
    return mk_buf_append_str(b, MK_STR("\r\n"));
}

/*
 * Most heads fit into the block; a longer one gets memory of its own, unless MaxMemory is used up: many of them may come before
 * what goes for them is free. @return 0 or an error.
 */
static int keep_head(struct mk_exchange *x, const struct mk_exchange_head *head,
                     struct mk_str *text)
{
    struct mk_buf b = {.p = x->own_text, .cap = MK_EXCHANGE_TEXT, .max = MK_EXCHANGE_TEXT};
    int err = write_head(&b, head);

    if (err == MK_E_LIMIT && !mk_budget_has_room(x->carried.request.worker))
        return MK_E_NOMEM;
    if (err == MK_E_LIMIT) {
        mk_buf_init(&b, SIZE_MAX / 4);
        err = write_head(&b, head);
        x->long_text = b.p;
        x->long_size = b.cap;
    }
    *text = mk_buf_str(&b);
    return err;
}

static struct mk_exchange *make(struct mk_conn *c, const struct mk_carrier *carrier, void *arg)
{
    struct mk_exchange *x = mk_carried_block(c->worker);

    if (!x)
        return NULL;
    memset(x, 0, offsetof(struct mk_exchange, arena_start));
    mk_carried_init(&x->carried, &kind);
    x->carried.holder.conn = c;
    x->carried.holder.end = make_room;
    x->carried.request.worker = c->worker;
    x->carrier = carrier;
    x->arg = arg;
    mk_buf_init(&x->rest, MK_LIMIT_EXCHANGE_REST);
    return x;
}

int mk_exchange_begin(struct mk_exchange **exchange, struct mk_conn *c,
                      const struct mk_exchange_head *head, const struct mk_carrier *carrier,
                      void *arg)
{
    struct mk_exchange *x = make(c, carrier, arg);
    struct mk_str text;
    int err;

    if (!x)
        return MK_E_NOMEM;
    err = keep_head(x, head, &text);
    if (err < 0) {
        free_exchange(&x->carried);
        return err;
    }
    x->may_switch = wants_upgrade(head);
    c->requests++;
    mk_carried_begin(&x->carried, c->worker, c->id, x->arena_start, sizeof(x->arena_start));
    x->carried.request.conn = c;
    x->carried.request.site =
        mk_endpoint_site(c->endpoint, c->worker->view->snapshot, c->worker->view->side);
    x->carried.request.is_secure = c->link.transport->is_secure;
    x->carried.request.traced = x->carried.request.traced ? c->requests : 0;
    *exchange = x;
    mk_carried_route(&x->carried, text, head->has_body && head->content_length < 0, false);
    if (x->is_over) /* a client can begin thousands of such requests in one turn */
        mk_watch_bury(&x->carried.watch);
    return 0;
}

/* ---- bytes that come ---- */

void mk_exchange_arrived(struct mk_exchange *x)
{
    mk_request_resume(&x->carried.request);
}

int mk_exchange_set_trailers(struct mk_exchange *x, struct mk_str lines)
{
    struct mk_request *r = &x->carried.request;

    if (lines.len > MK_LIMIT_TRAILERS)
        return MK_E_LIMIT;
    r->trailers = mk_arena_strdup(&r->arena, lines);
    if (!r->trailers)
        return MK_E_NOMEM;
    r->body.trailers = (uint32_t)lines.len;
    return 0;
}

/* ---- bytes that go ---- */

size_t mk_exchange_put(struct mk_exchange *x, const char *bytes, size_t len)
{
    size_t n = len < x->dst_left ? len : x->dst_left;

    memcpy(x->dst, bytes, n);
    x->dst += n;
    x->dst_left -= n;
    return n;
}

static void put_rest(struct mk_exchange *x)
{
    if (!mk_exchange_has_rest(x))
        return;
    x->rest_at += mk_exchange_put(x, x->rest.p + x->rest_at, x->rest.len - x->rest_at);
    if (!mk_exchange_has_rest(x))
        x->rest.len = x->rest_at = 0;
}

ssize_t mk_exchange_pull(struct mk_exchange *x, char *dst, size_t len, bool *is_last)
{
    size_t got;

    *is_last = false;
    x->dst = dst;
    x->dst_left = len;
    put_rest(x);
    if (x->dst_left > 0)
        mk_carried_run(&x->carried);
    got = len - x->dst_left;
    x->dst = NULL;
    x->dst_left = 0;
    if (x->is_over && x->carried.error < 0)
        return x->carried.error;
    *is_last = x->is_over && !x->tunnel;
    return got > 0 || *is_last ? (ssize_t)got : MK_E_AGAIN;
}
