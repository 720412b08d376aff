/* SPDX-License-Identifier: Apache-2.0 */
#include "server/memory/memory.h"

#include "base/code.h"
#include "base/heap.h"
#include "base/invariant.h"
#include "base/limits.h"
#include "base/str.h"
#include "http/head_text.h"
#include "server/answer/body.h"
#include "server/answer/reply.h"
#include "server/request/ticket.h"
#include "server/request/wire.h"
#include "server/route/route.h"
#include "server/route/stage.h"
#include "server/worker/worker.h"

/* A request from memory: asked on any thread, answered in turns of its worker, told once. */

enum {
    HEAD_ROOM = 32 << 10, /* of the answer: twice, since a buffer grows by doubling */
    ANSWER_MAX = 1 << 20, /* bytes of a body when the question says nothing */
};

static void free_memory(struct mk_memory *m)
{
    atomic_fetch_sub_explicit(&m->shared->asked, m->held, memory_order_relaxed);
    mk_buf_fini(&m->in);
    mk_buf_fini(&m->head);
    mk_buf_fini(&m->body);
    mk_buf_fini(&m->trailers);
    mk_heap_free(m);
}

bool mk_memory_weigh(struct mk_memory *m)
{
    uint64_t before = m->held;

    m->held = (uint64_t)m->in.cap + m->head.cap + m->body.cap + m->trailers.cap + m->request.held;
    if (m->held == before)
        return true;
    atomic_fetch_add_explicit(&m->shared->asked, m->held - before, memory_order_relaxed);
    return m->held < before || mk_shared_has_room(m->shared, 0);
}

/* The one call of its fn. */
static void tell(struct mk_memory *m)
{
    const struct mk_answer answer = {
        .size = sizeof(answer),
        .error = m->error,
        .status = m->request.status,
        .fields = mk_buf_str(&m->head),
        .body = mk_buf_str(&m->body),
        .trailers = mk_buf_str(&m->trailers),
    };

    m->fn(&answer, m->arg);
}

static void on_gone(struct mk_watch *w)
{
    free_memory(MK_CONTAINER_OF(w, struct mk_memory, watch));
}

/* Its stage 40 runs, then it is told. */
static void end(struct mk_memory *m, int error)
{
    struct mk_request *r = &m->request;
    struct mk_view *view = r->view;

    m->error = m->error ? m->error : error;
    if (m->error)
        mk_answering_break(r);
    mk_timer_cancel(&m->timer);
    mk_list_remove(&m->link);
    mk_body_drop(r);
    mk_asking_go(r, MK_ASKING_OVER);
    if (r->site->on_finish.count > 0)
        mk_stage_finish(r);
    tell(m);
    mk_ticket_end(r);
    mk_arena_fini(&r->arena);
    mk_view_put(view);
    mk_count(&m->worker->counters.requests, 1);
    (void)!mk_watch_release(&m->worker->loop, &m->watch);
}

static int error_of(enum mk_pump verdict)
{
    return verdict == MK_PUMP_NO_MEMORY ? MK_E_NOMEM : MK_E_BAD;
}

/* It waits for its handler: as long as that makes progress, each time anew. */
static void wait(struct mk_memory *m)
{
    if (mk_timer_is_set(&m->timer) && m->waited_at == m->body.len)
        return;
    m->waited_at = m->body.len;
    mk_memory_wire.renew_timeout(&m->request);
}

static enum mk_pump turn(struct mk_memory *m)
{
    struct mk_request *r = &m->request;
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

static void run(struct mk_memory *m)
{
    enum mk_pump verdict;
    bool has_room;

    m->is_running = true;
    verdict = turn(m);
    m->is_running = false;
    has_room = mk_memory_weigh(m);
    if (mk_answering_is_broken(&m->request))
        end(m, MK_E_BAD);
    else if (!has_room && verdict != MK_PUMP_DONE)
        end(m, MK_E_NOMEM);
    else if (verdict == MK_PUMP_TURN)
        mk_memory_wire.wake(&m->request);
    else if (verdict == MK_PUMP_SOURCE)
        wait(m);
    else
        end(m, verdict == MK_PUMP_DONE ? 0 : error_of(verdict));
}

static void on_event(struct mk_watch *w, uint32_t events)
{
    (void)events;
    run(MK_CONTAINER_OF(w, struct mk_memory, watch));
}

static void on_timer(struct mk_timer *t)
{
    struct mk_memory *m = MK_CONTAINER_OF(t, struct mk_memory, timer);
    struct mk_request *r = &m->request;

    if (m->waited_at != m->body.len) { /* it went on without a wait */
        wait(m);
        return;
    }
    mk_request_log_slow_handler(r);
    if (r->status != 0) {
        end(m, MK_E_TIMEOUT);
        return;
    }
    mk_asking_unpark(r);
    mk_reply_refuse(r, MK_REFUSAL_HANDLER_SLOW);
    run(m);
}

/* ---- its beginning ---- */

static int parse(struct mk_memory *m)
{
    const struct mk_server_settings *set = &m->request.view->snapshot->set;
    struct mk_request *r = &m->request;
    const struct mk_h1_limits limits = {
        .head = (uint32_t)set->max_request_size,
        .target = MK_LIMIT_TARGET,
        .fields = (uint32_t)set->max_headers,
    };

    r->text = m->in.p;
    if (mk_h1_head_parse(&r->head, m->in.p, m->body_at, &limits) != (ssize_t)m->body_at)
        return MK_E_INVALID;
    r->head_len = (uint32_t)m->body_at;
    return 0;
}

static void begin_request(struct mk_memory *m, struct mk_worker *w)
{
    struct mk_request *r = &m->request;

    r->wire = &mk_memory_wire;
    r->worker = w;
    r->view = w->view;
    r->view->users++;
    r->site = &r->view->snapshot->sites[0];
    r->id = w->next_id++;
    r->traced = mk_log_traces(mk_worker_log(w), MK_LOG_HTTP);
    r->is_secure = m->is_secure;
    r->began_ms = w->loop.clock.mono_ms;
    r->patience_ms = (uint32_t)r->view->snapshot->set.handler_timeout_ms;
    if (m->in.len > m->body_at)
        mk_receiving_go(r, MK_RECEIVING_UNREAD);
    mk_arena_init(&r->arena, NULL, 0, MK_LIMIT_REQUEST_ARENA);
    mk_list_add_tail(&w->asked, &m->link);
}

/* As for a client's: a head that is refused by this server's limits is answered too. */
static void route(struct mk_memory *m)
{
    struct mk_request *r = &m->request;

    m->is_running = true;
    if (parse(m) < 0) {
        r->reason = mk_h1_fault_text(r->head.fault);
        mk_reply_page(r, mk_fault_status(r->head.fault), true);
    } else {
        mk_asking_go(r, MK_ASKING_ASKED);
        if (r->view->snapshot->nsites > 1)
            mk_route_choose_site(r);
        if (m->is_body_large ||
            r->head.content_length > (uint64_t)r->view->snapshot->set.max_body_size)
            mk_reply_refuse(r, MK_REFUSAL_BODY_LARGE);
        else
            mk_route(r);
    }
    run(m);
}

static void on_post(struct mk_post *post)
{
    struct mk_memory *m = MK_CONTAINER_OF(post, struct mk_memory, post);
    struct mk_worker *w = m->worker;

    if (w->stopping || w->ended) { /* ended: of a server that was never started */
        m->error = MK_E_PEER;
        tell(m);
        free_memory(m);
        return;
    }
    begin_request(m, w);
    route(m);
}

void mk_memory_end(struct mk_worker *w)
{
    while (!mk_list_is_empty(&w->asked))
        end(MK_CONTAINER_OF(w->asked.next, struct mk_memory, link), MK_E_PEER);
}

/* ---- asking ---- */

static bool is_body_large(const struct mk_shared *shared, size_t len)
{
    return len > (uint64_t)atomic_load_explicit(&shared->max_body_size, memory_order_relaxed);
}

/* A body for which MaxMemory has no room is not copied either. */
static int write_question(struct mk_memory *m, const struct mk_question *q)
{
    struct mk_str method = q->method.p ? q->method : MK_STR("GET");
    int err;

    mk_buf_init(&m->in, SIZE_MAX / 4);
    if (mk_str_eq(method, MK_STR("CONNECT")))
        return MK_E_INVALID;
    err = mk_head_text(&m->in, method, q->target, q->fields, q->body.len);
    m->body_at = m->in.len;
    if (err < 0 || m->is_body_large)
        return err;
    if (!mk_shared_has_room(m->shared, q->body.len) || mk_buf_append_str(&m->in, q->body) < 0)
        return MK_E_NOMEM;
    return mk_memory_weigh(m) ? 0 : MK_E_NOMEM;
}

/* What an older caller does not know is zero; what a newer one knows more is not looked at. */
static int copy_question(struct mk_question *to, const struct mk_question *from)
{
    *to = (struct mk_question){.size = sizeof(*to)};
    if (from->size < offsetof(struct mk_question, is_secure))
        return MK_E_INVALID;
    memcpy(to, from, from->size < sizeof(*to) ? from->size : sizeof(*to));
    return 0;
}

static void init(struct mk_memory *m, size_t max_answer)
{
    m->post.fn = on_post;
    mk_watch_init(&m->watch, -1, on_event, on_gone);
    mk_timer_init(&m->timer, on_timer);
    mk_list_init(&m->link);
    mk_buf_init(&m->head, HEAD_ROOM);
    mk_buf_init(&m->body, max_answer ? max_answer : ANSWER_MAX);
    mk_buf_init(&m->trailers, MK_LIMIT_TRAILERS);
}

/* To the workers in turn. */
static int post(struct mk_memory *m, struct mk_shared *shared, bool waits)
{
    struct mk_asks *asks = &shared->asks;
    bool is_taken;

    pthread_mutex_lock(&asks->lock);
    is_taken = asks->state == MK_ASK_OPEN || (asks->state == MK_ASK_NOT_YET && !waits);
    if (is_taken) {
        m->worker = shared->workers[asks->next++ % shared->nworkers];
        mk_loop_post(&m->worker->loop, &m->post);
    }
    pthread_mutex_unlock(&asks->lock);
    return is_taken ? 0 : MK_E_PEER;
}

/* Few programs ask their own server. */
MK_AT_START int mk_memory_ask(struct mk_server *server, const struct mk_question *question,
                              mk_answer_fn fn, void *arg, bool waits)
{
    struct mk_question q;
    struct mk_memory *m;
    int err = server && question && fn ? copy_question(&q, question) : MK_E_INVALID;

    if (err < 0)
        return err;
    m = mk_heap_zalloc(1, sizeof(*m));
    if (!m)
        return MK_E_NOMEM;
    m->shared = mk_shared_of(server);
    m->is_body_large = is_body_large(mk_shared_of(server), q.body.len);
    err = write_question(m, &q);
    m->fn = fn;
    m->arg = arg;
    m->is_secure = q.is_secure;
    init(m, q.max_answer);
    if (err == 0)
        err = post(m, mk_shared_of(server), waits);
    if (err < 0)
        free_memory(m);
    return err;
}

int mk_server_ask(struct mk_server *server, const struct mk_question *question, mk_answer_fn fn,
                  void *arg)
{
    return mk_memory_ask(server, question, fn, arg, false);
}
