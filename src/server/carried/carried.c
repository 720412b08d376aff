/* SPDX-License-Identifier: Apache-2.0 */
#include "server/carried/carried.h"

#include "base/buf.h"
#include "base/invariant.h"
#include "base/limits.h"
#include "server/answer/body.h"
#include "server/answer/reply.h"
#include "server/request/ticket.h"
#include "server/request/wire.h"
#include "server/route/route.h"
#include "server/route/stage.h"
#include "server/worker/worker.h"

#include <stdio.h>

static const struct mk_server_settings *settings_of(const struct mk_carried *c)
{
    return &c->request.view->snapshot->set;
}

/* ---- its end ---- */

static void on_gone(struct mk_watch *w)
{
    struct mk_carried *c = MK_CONTAINER_OF(w, struct mk_carried, watch);

    c->kind->free(c);
}

void mk_carried_end(struct mk_carried *c, int error)
{
    struct mk_request *r = &c->request;
    struct mk_view *view = r->view;

    if (mk_asking_is_over(r))
        return;
    c->error = c->error ? c->error : error;
    if (c->error)
        mk_answering_break(r);
    mk_timer_cancel(&c->timer);
    mk_list_remove(&c->link);
    mk_body_drop(r);
    mk_asking_go(r, MK_ASKING_OVER);
    if (r->site->on_finish.count > 0)
        mk_stage_finish(r);
    c->kind->tell(c, c->error);
    mk_ticket_end(r);
    mk_arena_fini(&r->arena);
    mk_view_put(view);
    mk_count(&r->worker->counters.requests, 1);
    (void)!mk_watch_release(&r->worker->loop, &c->watch);
}

void mk_carried_end_all(struct mk_worker *w)
{
    while (!mk_list_is_empty(&w->carried))
        mk_carried_end(MK_CONTAINER_OF(w->carried.next, struct mk_carried, link), MK_E_PEER);
}

static int error_of(enum mk_pump verdict)
{
    return verdict == MK_PUMP_NO_MEMORY ? MK_E_NOMEM : MK_E_BAD;
}

/* ---- its turns ---- */

/* Nothing of its body has come that nobody has read, and somebody reads it. */
static bool waits_for_sender(const struct mk_request *r)
{
    return r->receiving == MK_RECEIVING_READING && r->wire->buffered(r) == 0;
}

static uint64_t moved(const struct mk_request *r)
{
    return r->body_sent + r->body.total;
}

/* The time that it waited for its sender counts for MinRate. */
static void end_wait(struct mk_carried *c)
{
    struct mk_request *r = &c->request;

    if (c->is_sender_waited_for)
        r->body_waited_ms += (uint32_t)r->worker->loop.clock.mono_ms - c->holder.holding.since_ms;
    c->is_sender_waited_for = false;
    c->holder.holding.since_ms = (uint32_t)r->worker->loop.clock.mono_ms;
    mk_timer_cancel(&c->timer);
}

static void begin_wait(struct mk_carried *c)
{
    struct mk_request *r = &c->request;
    struct mk_loop *loop = &r->worker->loop;
    int64_t ms;

    end_wait(c);
    c->waited_at = moved(r);
    c->is_sender_waited_for = waits_for_sender(r);
    ms = c->is_sender_waited_for ? mk_request_sender_ms(r) : r->patience_ms;
    if (c->is_sender_waited_for || ms > 0)
        mk_timer_set(&loop->wheel, &c->timer, loop->clock.mono_ms + ms);
}

static bool has_gone_on(const struct mk_carried *c)
{
    return c->waited_at != moved(&c->request) ||
           c->is_sender_waited_for != waits_for_sender(&c->request);
}

/* It waits for its handler, or for its sender: as long as that makes progress, each time anew. */
static void wait(struct mk_carried *c)
{
    if (!mk_timer_is_set(&c->timer) || has_gone_on(c))
        begin_wait(c);
}

static enum mk_pump turn(struct mk_carried *c)
{
    struct mk_request *r = &c->request;
    size_t budget = MK_LIMIT_TURN_BYTES;
    enum mk_pump verdict;

    mk_reply_note(r);
    verdict = mk_body_pump(r, &budget);
    if (verdict != MK_PUMP_DONE || !mk_asking_is_parked(r))
        return verdict;
    if (!mk_asking_is_woken(r))
        return MK_PUMP_SOURCE;
    mk_route_resume(r);
    mk_reply_note(r);
    return mk_asking_is_parked(r) ? MK_PUMP_SOURCE : mk_body_pump(r, &budget);
}

static void go_on(struct mk_carried *c, enum mk_pump verdict)
{
    switch (verdict) {
    case MK_PUMP_TURN:
        mk_carried_wake(&c->request);
        break;
    case MK_PUMP_SOURCE:
        wait(c);
        break;
    case MK_PUMP_READER: /* its protocol knows how long a reader may take */
        end_wait(c);
        break;
    default:
        mk_carried_end(c, verdict == MK_PUMP_DONE ? 0 : error_of(verdict));
    }
}

void mk_carried_run(struct mk_carried *c)
{
    enum mk_pump verdict;
    int err = 0;

    if (mk_asking_is_over(&c->request))
        return;
    c->is_running = true;
    c->request.worker->carried_turn = &c->request;
    verdict = turn(c);
    c->request.worker->carried_turn = NULL;
    c->is_running = false;
    if (c->kind->after_turn)
        err = c->kind->after_turn(c, verdict);
    if (mk_answering_is_broken(&c->request))
        mk_carried_end(c, MK_E_BAD);
    else if (err < 0 && verdict != MK_PUMP_DONE)
        mk_carried_end(c, err);
    else
        go_on(c, verdict);
}

static void on_event(struct mk_watch *w, uint32_t events)
{
    (void)events;
    mk_carried_run(MK_CONTAINER_OF(w, struct mk_carried, watch));
}

static void on_timer(struct mk_timer *t)
{
    struct mk_carried *c = MK_CONTAINER_OF(t, struct mk_carried, timer);
    struct mk_request *r = &c->request;

    if (has_gone_on(c)) { /* without a turn */
        begin_wait(c);
        return;
    }
    if (!c->is_sender_waited_for)
        mk_request_log_slow_handler(r);
    if (r->status != 0) {
        mk_carried_end(c, MK_E_TIMEOUT);
        return;
    }
    mk_asking_unpark(r);
    mk_reply_refuse(r, c->is_sender_waited_for ? MK_REFUSAL_BODY_SLOW : MK_REFUSAL_HANDLER_SLOW);
    mk_carried_run(c);
}

/* ---- its beginning ---- */

void *mk_carried_block(struct mk_worker *w)
{
    return mk_pool_get(&w->inputs);
}

void mk_carried_free_block(struct mk_worker *w, void *block)
{
    mk_pool_put(&w->inputs, block);
}

void mk_carried_init(struct mk_carried *c, const struct mk_carried_kind *kind)
{
    c->kind = kind;
    mk_watch_init(&c->watch, -1, on_event, on_gone);
    mk_timer_init(&c->timer, on_timer);
    mk_list_init(&c->link);
    mk_list_init(&c->holder.holding.link);
}

void mk_carried_begin(struct mk_carried *c, struct mk_worker *w, uint64_t id, void *start,
                      size_t size)
{
    struct mk_request *r = &c->request;

    r->wire = c->kind->wire;
    r->worker = w;
    r->view = w->view;
    r->view->users++;
    r->site = &r->view->snapshot->sites[r->view->snapshot->usual];
    r->id = id;
    r->traced = mk_log_traces(mk_worker_log(w), MK_LOG_HTTP);
    r->began_ms = w->loop.clock.mono_ms;
    r->patience_ms = (uint32_t)r->site->set.handler_timeout_ms;
    r->keep_alive = true;
    mk_arena_init(&r->arena, start, size, MK_LIMIT_REQUEST_ARENA);
    mk_list_add_tail(&w->carried, &c->link);
}

/* What follows a text's first place in the head, up to a character. */
static void find(struct mk_piece *piece, struct mk_str head, struct mk_str behind, char end)
{
    const char *from = memmem(head.p, head.len, behind.p, behind.len), *to;

    if (piece->len > 0 || !from)
        return;
    from += behind.len;
    to = memchr(from, end, (size_t)(head.p + head.len - from));
    if (to)
        *piece = (struct mk_piece){(uint32_t)(from - head.p), (uint32_t)(to - from)};
}

/* Logs name what was refused, too. The text was made here: each space and line end is where it belongs. */
static int refuse(struct mk_request *r, struct mk_str head)
{
    find(&r->head.target, head, MK_STR(" "), ' ');
    find(&r->head.known[MK_FIELD_HOST], head, MK_STR("\r\nHost: "), '\r');
    return MK_E_INVALID;
}

static int parse(struct mk_carried *c, struct mk_str head)
{
    const struct mk_server_settings *set = settings_of(c);
    struct mk_request *r = &c->request;
    const struct mk_h1_limits limits = {
        .head = (uint32_t)set->max_request_size,
        .target = MK_LIMIT_TARGET,
        .fields = (uint32_t)set->max_headers,
    };

    r->text = head.p;
    if (mk_h1_head_parse(&r->head, head.p, head.len, &limits) != (ssize_t)head.len)
        return refuse(r, head);
    r->head_len = (uint32_t)head.len;
    return 0;
}

static void ask(struct mk_request *r, bool is_large)
{
    mk_asking_go(r, MK_ASKING_ASKED);
    if (r->view->snapshot->is_divided)
        mk_route_choose_site(r);
    r->body.max = (uint64_t)r->site->set.max_body_size;
    if (is_large || r->head.content_length > r->body.max)
        mk_reply_refuse(r, MK_REFUSAL_BODY_LARGE);
    else
        mk_route(r);
}

/* As for a client of HTTP/1: a head that is refused by this server's limits is answered too. */
void mk_carried_route(struct mk_carried *c, struct mk_str head, bool has_more, bool is_large)
{
    struct mk_request *r = &c->request;

    c->is_running = true;
    r->worker->carried_turn = r;
    if (parse(c, head) < 0) {
        r->reason = mk_h1_fault_text(r->head.fault);
        mk_reply_page(r, mk_fault_status(r->head.fault), true);
    } else {
        r->head.chunked = has_more;
        if (has_more || r->head.content_length > 0)
            mk_receiving_go(r, MK_RECEIVING_UNREAD);
        ask(r, is_large);
    }
    r->worker->carried_turn = NULL;
    mk_carried_run(c);
}

/* ---- parts of its wire ---- */

int mk_carried_begin_head(struct mk_reply *p, char *room, size_t size)
{
    p->start = p->at = room;
    if (!room)
        return MK_E_PEER;
    p->end = room + size - MK_CARRIED_TAIL;
    if (!mk_carried_of(p->r)->is_running)
        mk_request_resume(p->r); /* answered from elsewhere: it goes on in its own turn */
    return 0;
}

struct mk_str mk_carried_end_head(struct mk_reply *p, int64_t length, bool has_content)
{
    if (has_content && length >= 0 && !p->has_length)
        p->at += sprintf(p->at, "Content-Length: %llu\r\n", (unsigned long long)length);
    p->r->framing = has_content && length < 0 ? MK_FRAMING_CHUNKS : MK_FRAMING_LENGTH;
    return (struct mk_str){p->start, (size_t)(p->at - p->start)};
}

int mk_carried_put_trailers(const struct mk_request *r, struct mk_buf *to)
{
    int err = 0;

    for (const struct mk_trailer *t = r->trailer; t && err == 0; t = t->next)
        err = mk_buf_append_str(to, t->line);
    return err;
}

void mk_carried_wake(struct mk_request *r)
{
    mk_watch_run_soon(&r->worker->loop, &mk_carried_of(r)->watch);
}

void mk_carried_renew_timeout(struct mk_request *r)
{
    begin_wait(mk_carried_of(r));
}

enum mk_pump mk_carried_flush(struct mk_request *r, bool more)
{
    (void)r, (void)more;
    return MK_PUMP_DONE;
}
