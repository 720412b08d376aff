/* SPDX-License-Identifier: Apache-2.0 */
#include "server/memory/memory.h"

#include "base/code.h"
#include "base/heap.h"
#include "base/limits.h"
#include "base/str.h"
#include "http/head_text.h"
#include "server/worker/worker.h"

/* A request from memory: asked on any thread, answered in turns of its worker, told once. */

enum {
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

    m->held =
        (uint64_t)m->in.cap + m->head.cap + m->body.cap + m->trailers.cap + m->carried.request.held;
    if (m->held == before)
        return true;
    atomic_fetch_add_explicit(&m->shared->asked, m->held - before, memory_order_relaxed);
    return m->held < before || mk_shared_has_room(m->shared, 0);
}

/* The one call of its fn. */
static void tell(struct mk_memory *m, int error)
{
    const struct mk_answer answer = {
        .size = sizeof(answer),
        .error = error,
        .status = m->carried.request.status,
        .fields = mk_buf_str(&m->head),
        .body = mk_buf_str(&m->body),
        .trailers = mk_buf_str(&m->trailers),
    };

    m->fn(&answer, m->arg);
}

static struct mk_memory *memory_of(struct mk_carried *c)
{
    return MK_CONTAINER_OF(c, struct mk_memory, carried);
}

static int weigh_turn(struct mk_carried *c, enum mk_pump verdict)
{
    (void)verdict;
    return mk_memory_weigh(memory_of(c)) ? 0 : MK_E_NOMEM;
}

static void tell_end(struct mk_carried *c, int error)
{
    tell(memory_of(c), error);
}

static void free_carried(struct mk_carried *c)
{
    free_memory(memory_of(c));
}

static const struct mk_carried_kind kind = {
    .wire = &mk_memory_wire,
    .after_turn = weigh_turn,
    .tell = tell_end,
    .free = free_carried,
};

/* ---- its beginning ---- */

static void on_post(struct mk_post *post)
{
    struct mk_memory *m = MK_CONTAINER_OF(post, struct mk_memory, post);
    struct mk_worker *w = m->worker;

    if (w->stopping || w->ended) { /* ended: of a server that was never started */
        tell(m, MK_E_PEER);
        free_memory(m);
        return;
    }
    mk_carried_begin(&m->carried, w, w->next_id++, NULL, 0);
    m->carried.request.is_secure = m->is_secure;
    mk_carried_route(&m->carried, (struct mk_str){m->in.p, m->body_at}, false, m->is_body_large);
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
    err = mk_head_text(&m->in, method, q->target, q->fields, MK_HEAD_FIELDS_ANY, q->body.len);
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
    mk_carried_init(&m->carried, &kind);
    mk_buf_init(&m->head, MK_LIMIT_ANSWER_HEAD);
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
