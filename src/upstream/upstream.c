/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream/upstream_int.h"

#include "base/code.h"
#include "base/heap.h"
#include "base/invariant.h"
#include "server/worker/worker.h"
#include "server/backend/stream.h"
#include "upstream/resolve.h"

static struct mk_upstream_wait *wait_of(struct mk_permit_wait *permit)
{
    return MK_CONTAINER_OF(permit, struct mk_upstream_wait, permit);
}

static struct mk_kept *kept_of(struct mk_list *link)
{
    return MK_CONTAINER_OF(link, struct mk_kept, link);
}

/* ---- its life ---- */

static void on_told(struct mk_post *post);

static int copy_text(char **to, const char *text)
{
    *to = text ? mk_heap_strdup(mk_str_from(text)) : NULL;
    return text && !*to ? MK_E_NOMEM : 0;
}

/* An older caller's struct ends before it. */
static const char *protocol_of(const struct mk_upstream_options *o)
{
    return o->size >= offsetof(struct mk_upstream_options, protocol) + sizeof(o->protocol)
               ? o->protocol
               : NULL;
}

static int copy_options(struct mk_upstream *u, const struct mk_upstream_options *o)
{
    u->port = o->port;
    u->max_uses = o->max_uses;
    u->connect_ms = o->connect_ms;
    u->idle_ms = o->idle_ms;
    u->queue_ms = o->queue_ms;
    if (copy_text(&u->host, o->host) < 0 || copy_text(&u->transport, o->transport) < 0 ||
        copy_text(&u->name, o->name) < 0)
        return MK_E_NOMEM;
    return copy_text(&u->protocol, protocol_of(o));
}

static void free_all(struct mk_upstream *u)
{
    mk_heap_free(u->host);
    mk_heap_free(u->transport);
    mk_heap_free(u->name);
    mk_heap_free(u->protocol);
    mk_heap_free(u);
}

MK_AT_START struct mk_upstream *mk_upstream_new(struct mk_server *server,
                                                const struct mk_upstream_options *options)
{
    const struct mk_shared *shared = mk_shared_of(server);
    struct mk_upstream *u =
        mk_heap_zalloc(1, sizeof(*u) + shared->nworkers * sizeof(struct mk_lane));

    if (!u)
        return NULL;
    atomic_init(&u->users, 1);
    if (copy_options(u, options) < 0 ||
        mk_permits_init(&u->permits, shared->nworkers, options->max_connections,
                        options->max_waiting, options->max_idle) < 0) {
        free_all(u);
        return NULL;
    }
    for (unsigned i = 0; i < shared->nworkers; i++) {
        u->lanes[i] = (struct mk_lane){.upstream = u, .worker = shared->workers[i], .index = i};
        u->lanes[i].post.fn = on_told;
        mk_list_init(&u->lanes[i].idle);
    }
    return u;
}

void mk_upstream_get(struct mk_upstream *u)
{
    atomic_fetch_add_explicit(&u->users, 1, memory_order_relaxed);
}

void mk_upstream_put(struct mk_upstream *u)
{
    if (atomic_fetch_sub_explicit(&u->users, 1, memory_order_acq_rel) > 1)
        return;
    mk_permits_fini(&u->permits);
    free_all(u);
}

/** Its idle connections are wanted for others. */
static void tell_lane(struct mk_upstream *u, unsigned index)
{
    struct mk_lane *lane = &u->lanes[index];

    mk_upstream_get(u);
    mk_loop_post(&lane->worker->loop, &lane->post);
}

void mk_upstream_free(struct mk_upstream *u)
{
    if (!u)
        return;
    mk_permits_close(&u->permits);
    for (unsigned i = 0; i < u->permits.nlanes; i++) {
        if (mk_permits_must_tell(&u->permits, i))
            tell_lane(u, i);
    }
    mk_upstream_put(u);
}

void mk_upstream_load(struct mk_upstream *u, unsigned *open, unsigned *idle, unsigned *waiting)
{
    mk_permits_load(&u->permits, open, idle, waiting);
}

/* ---- what nobody asked for ---- */

void mk_upstream_distrust(struct mk_upstream *u)
{
    if (!atomic_exchange_explicit(&u->distrusted, true, memory_order_relaxed))
        mk_server_log(
            u->lanes[0].worker->server, MK_LOG_WARN,
            "upstream: unasked bytes from a backend, its connections are not kept host=%s "
            "port=%u",
            u->host, u->port);
}

bool mk_upstream_is_trusted(const struct mk_upstream *u)
{
    return !atomic_load_explicit(&u->distrusted, memory_order_relaxed);
}

/* What is unread at the end of an answer belongs to none, and an end of input says that no other will come. */
static bool is_quiet(struct mk_upstream *u, struct mk_stream *s)
{
    char byte;
    ssize_t n = mk_stream_read(s, &byte, 1);

    if (n > 0)
        mk_upstream_distrust(u);
    return n == MK_E_AGAIN;
}

bool mk_upstream_is_quiet(struct mk_upstream *u, struct mk_stream *s)
{
    s->readable = true; /* as far as events tell it is not */
    return is_quiet(u, s);
}

/* ---- connections ---- */

/** Close one whose permit is settled, or is about to be. */
static void close_kept(struct mk_kept *kept)
{
    mk_stream_close(kept->stream);
    mk_heap_free(kept);
}

void mk_upstream_promise(struct mk_permit_wait *heir)
{
    if (heir)
        mk_loop_post(&wait_of(heir)->lane->worker->loop, &wait_of(heir)->post);
}

static void on_idle(struct mk_stream *s, unsigned events, void *arg)
{
    struct mk_kept *kept = arg;
    struct mk_lane *lane = kept->lane;
    struct mk_upstream *u = lane->upstream;

    if (!(events & (MK_IO_ERROR | MK_IO_HANGUP | MK_IO_TIMEOUT)) &&
        (!(events & MK_IO_READ) || is_quiet(u, s)))
        return;
    kept->dead = true;
    if (kept->promised)
        return;
    mk_list_remove(&kept->link);
    close_kept(kept);
    mk_upstream_promise(mk_permits_lose(&u->permits, lane->index));
    mk_upstream_put(u);
}

static void rest(struct mk_kept *kept)
{
    mk_list_add_tail(&kept->lane->idle, &kept->link);
    mk_stream_timeout(kept->stream, kept->lane->upstream->idle_ms);
}

static void hand_over(struct mk_kept *kept, struct mk_upstream_wait *wait)
{
    kept->promised = true;
    mk_stream_timeout(kept->stream, 0);
    wait->kept = kept;
}

static void settle(struct mk_kept *kept, bool reusable)
{
    struct mk_lane *lane = kept->lane;
    struct mk_upstream *u = lane->upstream;
    struct mk_permit_wait *heir;

    if (!reusable) {
        close_kept(kept);
        mk_upstream_promise(mk_permits_put(&u->permits));
        mk_upstream_put(u);
        return;
    }
    kept->promised = false;
    mk_stream_tell(kept->stream, on_idle, kept);
    switch (mk_permits_keep(&u->permits, lane->index, &heir)) {
    case MK_KEEP_IDLE:
        rest(kept);
        break;
    case MK_KEEP_HAND:
        hand_over(kept, wait_of(heir));
        mk_upstream_promise(heir);
        break;
    case MK_KEEP_CLOSE:
        close_kept(kept);
        mk_upstream_promise(heir);
        mk_upstream_put(u);
        break;
    }
}

void mk_upstream_give(struct mk_upstream *u, struct mk_stream *s, bool reusable)
{
    struct mk_kept *kept = s->owner;
    bool used_up = u->max_uses > 0 && kept->uses >= u->max_uses;

    settle(kept, reusable && !used_up && is_quiet(u, s) && mk_upstream_is_trusted(u));
}

/** On a lane: give up idle connections, those first that have rested longest. */
static void on_told(struct mk_post *post)
{
    struct mk_lane *lane = MK_CONTAINER_OF(post, struct mk_lane, post);
    struct mk_upstream *u = lane->upstream;
    struct mk_list heirs;
    unsigned n = mk_permits_surrender(&u->permits, lane->index, &heirs);

    for (; n > 0; n--) {
        struct mk_kept *kept = kept_of(lane->idle.next);

        mk_list_remove(&kept->link);
        close_kept(kept);
        mk_upstream_put(u); /* the post is a user too */
    }
    MK_LIST_EACH (&heirs, link) {
        mk_list_remove(link);
        mk_upstream_promise(MK_CONTAINER_OF(link, struct mk_permit_wait, link));
    }
    mk_upstream_put(u);
}

/* ---- waits ---- */

static void free_wait(struct mk_upstream_wait *wait)
{
    struct mk_upstream *u = wait->lane->upstream;

    mk_timer_cancel(&wait->timer);
    mk_heap_free(wait->addresses);
    mk_heap_free(wait);
    mk_upstream_put(u);
}

static void on_untold(struct mk_stream *s, unsigned events, void *arg)
{
    (void)s;
    (void)events;
    (void)arg;
}

/** Tell and free. */
static void finish(struct mk_upstream_wait *wait, bool fresh, int error)
{
    mk_upstream_fn fn = wait->fn;
    void *arg = wait->arg;
    struct mk_stream *s = NULL;

    if (wait->kept) {
        s = wait->kept->stream;
        wait->kept->promised = false;
        wait->kept->uses++;
        mk_stream_tell(s, on_untold, NULL);
        mk_stream_run_soon(s); /* what the backend said meanwhile was told to us, once */
    }
    mk_wait_go(wait, error == 0 ? MK_WAIT_SERVED : MK_WAIT_FAILED);
    free_wait(wait);
    fn(arg, s, fresh, error);
}

void mk_wait_connected(struct mk_upstream_wait *wait)
{
    finish(wait, true, 0);
}

static void drop_connection(struct mk_upstream_wait *wait)
{
    struct mk_upstream *u = wait->lane->upstream;

    if (!wait->kept)
        return;
    close_kept(wait->kept);
    wait->kept = NULL;
    mk_upstream_put(u);
}

/** The permit of a wait is not used. */
static void give_up(struct mk_upstream_wait *wait)
{
    drop_connection(wait);
    mk_upstream_promise(mk_permits_put(&wait->lane->upstream->permits));
}

void mk_wait_fail(struct mk_upstream_wait *wait, int error)
{
    give_up(wait);
    finish(wait, false, error);
}

/** The look-up of a name cannot be stopped: the wait stays until it comes back. */
static void leave_behind(struct mk_upstream_wait *wait)
{
    give_up(wait);
    mk_timer_cancel(&wait->timer);
    mk_wait_go(wait, MK_WAIT_LEFT);
}

static void on_timer(struct mk_timer *t)
{
    struct mk_upstream_wait *wait = MK_CONTAINER_OF(t, struct mk_upstream_wait, timer);
    const int late = wait->asked_again ? MK_E_PEER : MK_E_TIMEOUT; /* what is known has refused */

    switch ((enum mk_wait_state)wait->state) {
    case MK_WAIT_QUEUED:
        if (mk_permits_leave(&wait->lane->upstream->permits, &wait->permit))
            finish(wait, false, MK_E_BUSY);
        break;
    case MK_WAIT_RESOLVING:
        leave_behind(wait);
        wait->fn(wait->arg, NULL, false, late);
        break;
    case MK_WAIT_PAUSING:
        mk_wait_redial(wait);
        break;
    case MK_WAIT_DIALLING:
        mk_resolve_doubt(wait->lane->worker, wait->lane->upstream->host);
        mk_wait_fail(wait, MK_E_TIMEOUT);
        break;
    default:
        break;
    }
}

void mk_wait_set_timer(struct mk_upstream_wait *wait, unsigned ms)
{
    struct mk_loop *loop = &wait->lane->worker->loop;

    if (ms == 0)
        mk_timer_cancel(&wait->timer);
    else
        mk_timer_set(&loop->wheel, &wait->timer, loop->clock.mono_ms + ms);
}

/** Nobody waits for what was promised. */
static void take_back(struct mk_upstream_wait *wait)
{
    struct mk_kept *kept = wait->kept;

    wait->kept = NULL;
    if (kept)
        settle(kept, !kept->dead && mk_upstream_is_trusted(kept->lane->upstream));
    else
        mk_upstream_promise(mk_permits_put(&wait->lane->upstream->permits));
    free_wait(wait);
}

/** A permit came, or a connection that was kept. */
static void on_promised(struct mk_post *post)
{
    struct mk_upstream_wait *wait = MK_CONTAINER_OF(post, struct mk_upstream_wait, post);

    if (wait->state == MK_WAIT_LEFT) {
        take_back(wait);
    } else if (wait->kept && !wait->kept->dead && mk_upstream_is_trusted(wait->lane->upstream)) {
        finish(wait, false, 0);
    } else {
        drop_connection(wait);
        mk_wait_connect(wait);
    }
}

void mk_wait_forget(struct mk_upstream_wait *wait)
{
    free_wait(wait);
}

static struct mk_upstream_wait *new_wait(struct mk_lane *lane, bool fresh, mk_upstream_fn fn,
                                         void *arg)
{
    struct mk_upstream_wait *wait = mk_heap_zalloc(1, sizeof(*wait));

    if (!wait)
        return NULL;
    wait->permit.lane = lane->index;
    wait->permit.fresh = fresh;
    wait->post.fn = on_promised;
    wait->lane = lane;
    wait->id = ((uint64_t)lane->worker->index << 48) + ++lane->worker->nwaits;
    wait->fn = fn;
    wait->arg = arg;
    mk_timer_init(&wait->timer, on_timer);
    mk_upstream_get(lane->upstream);
    return wait;
}

static void begin(struct mk_upstream_wait *wait, enum mk_permit permit)
{
    struct mk_lane *lane = wait->lane;

    if (permit == MK_PERMIT_WAIT) {
        mk_wait_go(wait, MK_WAIT_QUEUED);
        mk_wait_set_timer(wait, lane->upstream->queue_ms);
        return;
    }
    mk_wait_go(wait, MK_WAIT_PROMISED);
    if (permit == MK_PERMIT_IDLE) {
        struct mk_kept *kept = kept_of(lane->idle.prev);

        mk_list_remove(&kept->link);
        hand_over(kept, wait);
    }
    mk_upstream_promise(&wait->permit);
}

int mk_upstream_take(struct mk_upstream *u, struct mk_worker *w, bool fresh, mk_upstream_fn fn,
                     void *arg, struct mk_upstream_wait **out)
{
    struct mk_upstream_wait *wait = new_wait(&u->lanes[w->index], fresh, fn, arg);
    int permit, tell;

    *out = NULL;
    if (!wait)
        return MK_E_NOMEM;
    permit = mk_permits_take(&u->permits, &wait->permit, &tell);
    if (permit < 0) {
        free_wait(wait);
        return permit;
    }
    *out = wait;
    begin(wait, (enum mk_permit)permit);
    if (tell >= 0)
        tell_lane(u, (unsigned)tell);
    return 0;
}

void mk_upstream_cancel(struct mk_upstream_wait *wait)
{
    switch ((enum mk_wait_state)wait->state) {
    case MK_WAIT_QUEUED:
        if (mk_permits_leave(&wait->lane->upstream->permits, &wait->permit)) {
            mk_wait_go(wait, MK_WAIT_LEFT);
            free_wait(wait);
            break;
        }
        mk_timer_cancel(&wait->timer);
        mk_wait_go(wait, MK_WAIT_LEFT);
        break;
    case MK_WAIT_PROMISED:
        mk_wait_go(wait, MK_WAIT_LEFT);
        break;
    case MK_WAIT_RESOLVING:
        leave_behind(wait);
        break;
    case MK_WAIT_PAUSING:
    case MK_WAIT_DIALLING:
        give_up(wait);
        mk_wait_go(wait, MK_WAIT_LEFT);
        free_wait(wait);
        break;
    default:
        MK_ASSERT(false);
        break;
    }
}
