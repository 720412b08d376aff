/* SPDX-License-Identifier: Apache-2.0 */
#include "data/remote/client_int.h"

#include "kit/states/states.h"

#include <stdlib.h>

/* A connection to a server: calls go out without waiting, and their answers come in the same order. */

static const struct states_row rows[] = {
#define ROW(name, text, next, meaning) {text, next},
    REMOTE_LINK_STATES(ROW)
#undef ROW
};
static const char unasked[] = "an answer without a call";
static const struct states table = {"remote link", sizeof(rows) / sizeof(rows[0]), rows};

static void turn(struct remote_link *l, enum remote_link_state to)
{
    states_turn(&table, &l->state, to, NULL, NULL);
}

static const struct remote_protocol *protocol_of(const struct remote_link *l)
{
    return l->pool->client->spec->protocol;
}

/* ---- the end ---- */

/* The pool knows it no more, and the connection goes. @param reusable  it is in step */
static void detach(struct remote_pool *pool, struct remote_link *l, bool reusable)
{
    struct remote_link **at = &pool->links;

    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    if (!l->is_probe)
        pool->nlinks--;
    if (l->wait)
        mk_upstream_cancel(l->wait);
    l->wait = NULL;
    if (l->s)
        mk_upstream_give(pool->upstream, l->s, reusable);
    l->s = NULL;
    turn(l, REMOTE_LINK_OVER);
}

static void drop(struct remote_link *l)
{
    const struct remote_protocol *protocol = protocol_of(l);

    protocol->reset(l->reader);
    if (protocol->fini)
        protocol->fini(l->reader);
    free(l);
}

void remote_link_free(struct remote_link *l)
{
    struct remote_call *call;

    detach(l->pool, l, false);
    while ((call = remote_queue_pop(&l->calls)))
        free(call);
    drop(l);
}

bool remote_link_is_idle(const struct remote_link *l)
{
    return !l->is_inside && l->ncalls == (unsigned)l->is_greeting + l->is_probe;
}

/* Its connection is for others. @param reusable  likewise */
static void give_back(struct remote_link *l, bool reusable)
{
    struct remote_pool *pool = l->pool;

    detach(pool, l, reusable);
    drop(l);
    remote_pool_serve(pool);
}

/* A new connection says nothing of a server that is silent, but keeps one that refuses others from being given up. */
enum { WORKING = REMOTE_TO(OPEN), MADE = REMOTE_TO(TAKE) | REMOTE_TO(GREET) | WORKING };

/* @param states  a bit of each that counts */
static bool has_another(const struct remote_link *than, unsigned states)
{
    const struct remote_link *l = than->pool->links;

    while (l && (l == than || l->is_probe || !(states & 1U << l->state)))
        l = l->next;
    return l != NULL;
}

static struct remote_call *pop(struct remote_link *l)
{
    struct remote_call *call = remote_queue_pop(&l->calls);

    l->ncalls--;
    if (l->unsent != call)
        return call;
    l->unsent = call->next;
    l->nunsent--;
    l->sent = 0;
    return call;
}

/* What is the client's own: the greeting, and the call of a probe. */
static void free_own(struct remote_link *l)
{
    if (l->is_greeting)
        free(pop(l));
    l->is_greeting = false;
    if (l->is_probe)
        free(pop(l));
}

static const struct remote_call *first_unsent(const struct remote_link *l)
{
    return l->unsent && l->sent > 0 ? l->unsent->next : l->unsent; /* the first one is cut off */
}

/* It has left the pool: what becomes of its calls? */
static void settle(struct remote_link *l, enum remote_end end, const char *text)
{
    remote_pool_lose(l->pool, l->calls.first, first_unsent(l), end, text);
}

/* @param text  of the reader, or for longer */
static void fail(struct remote_link *l, enum remote_end end, const char *text,
                 bool is_servers_fault)
{
    struct remote_pool *pool = l->pool;
    const bool is_probe = l->is_probe;

    detach(pool, l, false);
    free_own(l);
    if (is_probe && l->is_kept)
        remote_pool_try(pool, true); /* the server may have forgotten it */
    else if (is_servers_fault || is_probe)
        remote_pool_failed(pool, text, is_probe);
    settle(l, end, text);
    drop(l);
    remote_pool_serve(pool);
}

static void grow_later(struct remote_pool *pool)
{
    const struct remote_protocol *protocol = pool->client->spec->protocol;

    backoff_failed(&pool->growth, protocol->retry_first_ms, protocol->retry_last_ms);
}

/*
 * It ends, or never was, without having had a call of a user. A server that is full may refuse a further connection, and
 * goes on with those that it has.
 * @param states  of has_another(). @return whether there is another one
 */
static bool fail_to_grow(struct remote_link *l, unsigned states)
{
    struct remote_pool *pool = l->pool;

    if (l->is_probe || l->ncalls > l->is_greeting || l->has_answered || !has_another(l, states))
        return false;
    grow_later(pool);
    detach(pool, l, false);
    free_own(l);
    drop(l);
    remote_link_share(pool);
    return true;
}

/* ---- sending ---- */

static int gather(const struct remote_link *l, struct iovec *pieces)
{
    size_t skip = l->sent;
    int n = 0;

    for (const struct remote_call *call = l->unsent; call && n < REMOTE_PIECES_MAX;
         call = call->next) {
        pieces[n++] = (struct iovec){(void *)(uintptr_t)(call->bytes + skip), call->len - skip};
        skip = 0;
    }
    return n;
}

static void count_sent(struct remote_link *l, size_t n)
{
    l->sent += n;
    while (l->unsent && l->sent >= l->unsent->len) {
        l->sent -= l->unsent->len;
        l->unsent = l->unsent->next;
        l->nunsent--;
    }
}

/* An error is left to the loop, which reports it as an event of its own: answers may have come before. */
static void flush(struct remote_link *l)
{
    struct iovec pieces[REMOTE_PIECES_MAX];

    while (l->unsent) {
        const ssize_t n = mk_stream_write(l->s, pieces, gather(l, pieces));

        if (n < 0)
            return;
        count_sent(l, (size_t)n);
    }
}

static void push(struct remote_link *l, struct remote_call *call)
{
    remote_queue_add(&l->calls, call);
    l->ncalls++;
    l->nunsent++;
    l->idle_ticks = 0;
    if (l->unsent)
        return;
    l->unsent = call;
    l->sent = 0;
}

/* Of what was not read yet nothing is an answer to this call, so an event reads everything first. */
void remote_link_send(struct remote_link *l, struct remote_call *call)
{
    push(l, call);
    if (!l->is_inside)
        flush(l);
}

/* ---- choosing ---- */

static bool others_wait(const struct remote_pool *pool)
{
    unsigned open, idle, waiting = 0;

    if (pool->is_tight)
        mk_upstream_load(pool->upstream, &open, &idle, &waiting);
    return waiting > 0;
}

/* Does it wait for an answer that nobody wants any more? */
static bool is_slow(const struct remote_link *l)
{
    return l->calls.first && l->calls.first->is_over;
}

static bool is_better(const struct remote_link *l, const struct remote_link *than)
{
    if (!than || is_slow(l) != is_slow(than))
        return !than || is_slow(than);
    return l->ncalls < than->ncalls;
}

static struct remote_link *best_open(const struct remote_pool *pool)
{
    struct remote_link *best = NULL;

    for (struct remote_link *l = pool->links; l; l = l->next) {
        if (l->state == REMOTE_LINK_OPEN && !l->is_probe && is_better(l, best))
            best = l;
    }
    return best;
}

unsigned remote_link_coming(const struct remote_pool *pool)
{
    unsigned n = 0;

    for (const struct remote_link *l = pool->links; l; l = l->next)
        n += !l->is_probe && (l->state == REMOTE_LINK_TAKE || l->state == REMOTE_LINK_GREET);
    return n;
}

void remote_link_share(struct remote_pool *pool)
{
    struct remote_link *l = best_open(pool);
    struct remote_call *call;

    while (l && (call = remote_queue_pop(&pool->waiting)))
        remote_link_send(l, call);
}

struct remote_link *remote_link_choose(struct remote_pool *pool)
{
    struct remote_link *l;

    /* The server may have closed an idle one since the last turn of the loop. */
    while ((l = best_open(pool)) && l->ncalls == 0 && !l->is_inside &&
           !mk_upstream_is_quiet(pool->upstream, l->s)) {
        detach(pool, l, false);
        drop(l);
    }
    if (!l || !others_wait(pool))
        return l;
    turn(l, REMOTE_LINK_LEAVING);
    if (l->ncalls == 0 && !l->is_inside) {
        detach(pool, l, true);
        drop(l);
    }
    return NULL;
}

/* ---- answers ---- */

static void take_one(struct remote_link *l)
{
    struct remote_call *call = remote_queue_pop(&l->pool->waiting);

    if (call)
        push(l, call);
}

/* Its share of what waits: one call while others come, and all if it is the last one. */
static void take_waiting(struct remote_link *l)
{
    struct remote_call *call;

    turn(l, REMOTE_LINK_OPEN);
    while (!l->is_probe && (call = remote_queue_pop(&l->pool->waiting))) {
        push(l, call);
        if (remote_link_coming(l->pool) > 0)
            return;
    }
}

/* The answer to the call is complete; takes the call. */
static void answer(const struct remote_link *l, struct remote_call *call)
{
    if (call->is_over)
        remote_call_forget(l->pool, call);
    else
        protocol_of(l)->answer(l->pool->client->of, call, l->reader);
}

/*
 * The first call has its answer, after which the connection ends.
 * @param why  the server's fault; NULL: it has none
 */
static void answer_last(struct remote_link *l, const char *why)
{
    struct remote_pool *pool = l->pool;
    struct remote_call *call = pop(l);

    detach(pool, l, false);
    if (why)
        remote_pool_failed(pool, why, false);
    answer(l, call);
    settle(l, REMOTE_LOST, "the connection ended after another answer");
    drop(l);
    remote_pool_serve(pool);
}

static void end_probe(struct remote_pool *pool)
{
    struct remote_link *l = pool->links;

    while (l && !l->is_probe)
        l = l->next;
    if (l)
        remote_link_free(l);
}

/* It answers, also over a connection that was not asked whether it is there. */
static void is_back(struct remote_pool *pool)
{
    if (pool->state == REMOTE_POOL_UP)
        return;
    end_probe(pool);
    remote_pool_is_back(pool);
}

static void answer_greeting(struct remote_link *l)
{
    free(pop(l));
    l->is_greeting = false;
    if (!l->is_probe)
        is_back(l->pool);
    take_waiting(l);
}

static void answer_probe(struct remote_link *l)
{
    free(pop(l));
    l->is_probe = false;
    l->pool->nlinks++;
    is_back(l->pool);
}

/*
 * The answer to the first call is complete. Where a call was cut short, or the server may read a value as commands, what
 * follows would mean something else.
 * @param nleft  bytes behind it that were read. @return whether the connection goes on
 */
static bool take_answer(struct remote_link *l, bool is_confused, size_t nleft)
{
    const bool is_unasked = --l->nowed == 0 && nleft > 0;

    l->is_answering = false;
    if (!l->has_answered)
        backoff_end(&l->pool->growth);
    l->has_answered = true;
    if ((l->is_greeting || l->is_probe) && (is_unasked || is_confused)) {
        fail(l, REMOTE_MALFORMED, unasked, true);
        return false;
    }
    if (l->is_greeting) {
        answer_greeting(l);
    } else if (l->is_probe) {
        answer_probe(l);
    } else if (is_unasked || is_confused || l->unsent == l->calls.first) {
        answer_last(l, is_unasked ? unasked : NULL);
        return false;
    } else {
        is_back(l->pool);
        answer(l, pop(l));
    }
    protocol_of(l)->reset(l->reader);
    return true;
}

static void append(struct remote_pool *pool, struct remote_queue *q, struct remote_queue *from)
{
    struct remote_call *call;

    while ((call = remote_queue_pop(from))) {
        if (call->is_over)
            remote_call_forget(pool, call);
        else
            remote_queue_add(q, call);
    }
}

/* Its calls were not sent, and go before those that wait, which came later. */
static void wait_again(struct remote_link *l)
{
    struct remote_pool *pool = l->pool;
    struct remote_queue later;

    remote_queue_init(&later);
    append(pool, &later, &pool->waiting);
    append(pool, &pool->waiting, &l->calls);
    append(pool, &pool->waiting, &later);
}

/* The server has not taken the connection: its calls are as good as unsent. */
static void refuse(struct remote_link *l)
{
    struct remote_pool *pool = l->pool;
    static const char text[] = "the server accepts no more connections";

    l->unsent = l->calls.first;
    l->nunsent = l->ncalls;
    l->sent = 0;
    if (l->is_probe || !has_another(l, MADE)) {
        fail(l, REMOTE_UNSENT, text, true);
        return;
    }
    grow_later(pool);
    detach(pool, l, false);
    free_own(l);
    if (pool->state == REMOTE_POOL_UP)
        wait_again(l);
    else
        settle(l, REMOTE_UNSENT, text);
    drop(l);
    remote_link_share(pool);
}

/* @return false: it is for no call, and not the refusal of a connection either, which may come before the first call is sent */
static bool is_wanted(struct remote_link *l)
{
    if (l->nowed == 0 && !l->has_answered && l->calls.first)
        l->is_early = true;
    return l->nowed > 0 || l->is_early;
}

static enum remote_progress read_some(struct remote_link *l, const char *bytes, size_t len,
                                      size_t *used)
{
    const struct remote_protocol *protocol = protocol_of(l);

    if (!l->is_answering)
        protocol->begin(l->pool->client->of, l->reader, l->calls.first, !l->has_answered);
    l->is_answering = true;
    return protocol->read(l->reader, bytes, len, used);
}

/* @return false */
static bool take_nonsense(struct remote_link *l, const char *why)
{
    if (!fail_to_grow(l, MADE))
        fail(l, REMOTE_MALFORMED, why, true);
    return false;
}

/* @return whether the connection goes on */
static bool take_bytes(struct remote_link *l, const char *bytes, size_t len)
{
    l->nowed = l->ncalls - l->nunsent + (l->unsent && l->sent > 0);
    while (len > 0) {
        enum remote_progress progress;
        size_t used = 0;

        if (!is_wanted(l))
            return take_nonsense(l, unasked);
        progress = read_some(l, bytes, len, &used);
        if (progress == REMOTE_FULL && !l->has_answered) {
            refuse(l);
            return false;
        }
        if (progress == REMOTE_BAD || progress == REMOTE_FULL)
            return take_nonsense(l, protocol_of(l)->why(l->reader));
        if (progress != REMOTE_MORE && l->is_early)
            return take_nonsense(l, unasked);
        bytes += used;
        len -= used;
        if (progress != REMOTE_MORE && !take_answer(l, progress == REMOTE_CONFUSED, len))
            return false;
    }
    return true;
}

enum received { GONE, MORE, ALL };

/* @return GONE: the connection has ended; MORE: it will go on */
static enum received receive(struct remote_link *l)
{
    char room[REMOTE_READ_ROOM];

    for (int i = 0; i < REMOTE_ROUNDS_MAX; i++) {
        const ssize_t n = mk_stream_read(l->s, room, sizeof(room));

        if (n == MK_E_AGAIN)
            return ALL;
        if (n <= 0) {
            if (!fail_to_grow(l, MADE))
                fail(l, REMOTE_LOST, "the server closed the connection", l->ncalls > 0);
            return GONE;
        }
        if (!take_bytes(l, room, (size_t)n))
            return GONE;
    }
    mk_stream_run_soon(l->s);
    return MORE;
}

/* ---- events ---- */

struct event {
    struct remote_link *link;
    struct mk_stream *s;
    unsigned events;
    bool fresh;
    int error;
};

/*
 * What a server sent before its end was read in the event before, so a connection that breaks without that is one of a worker
 * that ends: no function of a service is called then, and no tick comes.
 */
static void break_off(struct remote_link *l)
{
    if (l->ncalls > 0)
        turn(l, REMOTE_LINK_BROKEN);
    else
        give_back(l, false);
}

static void handle_event(void *arg)
{
    const struct event *e = arg;
    struct remote_link *l = e->link;
    enum received received;

    if (e->events & MK_IO_ERROR) {
        break_off(l);
        return;
    }
    l->is_inside = true;
    received = receive(l);
    if (received == GONE)
        return;
    l->is_inside = false;
    if (l->state == REMOTE_LINK_OPEN && l->ncalls == 0 && !l->pool->is_tight)
        take_one(l);
    if (received == ALL)
        flush(l);
    if (l->ncalls == 0 && (l->state == REMOTE_LINK_LEAVING || l->pool->is_tight))
        give_back(l, true);
}

static void on_event(struct mk_stream *s, unsigned events, void *arg)
{
    struct remote_link *l = arg;
    struct event e = {.link = l, .s = s, .events = events};

    remote_client_run(l->pool->client, handle_event, &e);
}

/* ---- the beginning ---- */

static void on_connection(void *arg, struct mk_stream *s, bool fresh, int error);

static int take(struct remote_link *l, bool fresh)
{
    const struct remote_pool *pool = l->pool;

    turn(l, REMOTE_LINK_TAKE);
    return mk_upstream_take(pool->upstream, pool->client->home.worker, fresh, on_connection, l,
                            &l->wait);
}

static void take_failed(struct remote_link *l, int error)
{
    char why[256];

    if (fail_to_grow(l, error == MK_E_TIMEOUT ? WORKING : MADE))
        return;
    mk_upstream_why(l->pool->upstream, l->pool->client->home.worker, error, why, sizeof(why));
    fail(l, REMOTE_UNSENT, why, true);
}

/* Before the call of a probe. */
static void push_greeting(struct remote_link *l, struct remote_call *call)
{
    const struct remote_client *c = l->pool->client;

    call->deadline_ms = clock_now_ms() + c->spec->timeout_ms;
    call->is_over = false;
    call->next = l->calls.first;
    if (!l->calls.first)
        l->calls.end = &call->next;
    l->calls.first = l->unsent = call;
    l->ncalls++;
    l->nunsent++;
    l->is_greeting = true;
}

static void open_link(struct remote_link *l, bool fresh)
{
    const struct remote_protocol *protocol = protocol_of(l);
    struct remote_call *call = NULL;

    if (fresh && protocol->greet && protocol->greet(l->pool->client->of, &call) < 0) {
        take_failed(l, MK_E_NOMEM);
        return;
    }
    mk_stream_tell(l->s, on_event, l);
    if (!call) {
        take_waiting(l);
        return;
    }
    push_greeting(l, call);
    turn(l, REMOTE_LINK_GREET);
}

static void handle_connection(void *arg)
{
    const struct event *e = arg;
    struct remote_link *l = e->link;
    int error = e->error;

    l->wait = NULL;
    l->s = e->s;
    l->is_kept = l->has_answered = !e->fresh; /* to another link, at least */
    if (l->s && !e->fresh && !mk_upstream_is_quiet(l->pool->upstream, l->s)) {
        mk_upstream_give(l->pool->upstream, l->s, false);
        l->s = NULL;
        error = take(l, true);
        if (error == 0)
            return;
    }
    if (l->s)
        open_link(l, e->fresh);
    else
        take_failed(l, error);
}

static void on_connection(void *arg, struct mk_stream *s, bool fresh, int error)
{
    struct remote_link *l = arg;
    struct event e = {.link = l, .s = s, .fresh = fresh, .error = error};

    remote_client_run(l->pool->client, handle_connection, &e);
}

int remote_link_new(struct remote_pool *pool, struct remote_call *probe, bool fresh)
{
    struct remote_link *l = calloc(1, sizeof(*l) + pool->client->spec->protocol->reader_size);
    int error;

    if (!l)
        return MK_E_NOMEM;
    l->pool = pool;
    remote_queue_init(&l->calls);
    error = take(l, fresh);
    if (error < 0) {
        free(l);
        return error;
    }
    l->is_probe = probe != NULL;
    if (probe)
        push(l, probe);
    else
        pool->nlinks++;
    l->next = pool->links;
    pool->links = l;
    return 0;
}

/* ---- time ---- */

struct remote_call *remote_link_late(const struct remote_link *l, int64_t now_ms)
{
    struct remote_call *call = l->calls.first;

    if (!protocol_of(l)->late || l->is_greeting || l->is_probe || l->state == REMOTE_LINK_BROKEN)
        return NULL;
    while (call && (call->is_over || now_ms < call->deadline_ms))
        call = call->next;
    return call;
}

bool remote_link_is_due(const struct remote_link *l, int64_t now_ms)
{
    const struct remote_call *call = l->calls.first;

    if (l->state == REMOTE_LINK_BROKEN)
        return true;
    if (protocol_of(l)->late && call && !l->is_greeting && !l->is_probe)
        return call->is_over && call->deadline_ms + l->pool->client->spec->timeout_ms <= now_ms;
    while (call && now_ms < call->deadline_ms)
        call = call->next;
    return call != NULL;
}

/* A silent server takes connections, and its calls too: only answers tell them apart. */
static bool answers_elsewhere(const struct remote_link *than)
{
    const struct remote_link *l = than->pool->links;

    while (l && (l == than || l->is_probe || l->state != REMOTE_LINK_OPEN || !l->has_answered ||
                 is_slow(l)))
        l = l->next;
    return l != NULL;
}

static void end_silent(struct remote_link *l)
{
    const bool answers = answers_elsewhere(l);

    if (answers)
        grow_later(l->pool);
    fail(l, REMOTE_LOST, "the server answers too slowly", !answers);
}

void remote_link_expire(struct remote_link *l)
{
    if (l->state == REMOTE_LINK_BROKEN)
        fail(l, REMOTE_LOST, "the server closed the connection", true);
    else if (!fail_to_grow(l, WORKING))
        end_silent(l);
}

bool remote_link_rest(struct remote_link *l)
{
    const bool is_wanted_here = l->pool->state == REMOTE_POOL_UP && ++l->idle_ticks < 2;

    if (l->state != REMOTE_LINK_OPEN || l->ncalls > 0 || is_wanted_here)
        return false;
    detach(l->pool, l, true);
    drop(l);
    return true;
}
