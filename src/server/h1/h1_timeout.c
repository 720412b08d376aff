/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "core/fd.h"
#include "server/h1/conn_state.h"
#include "server/h1/crowd.h"
#include "server/h1/h1_int.h"
#include "server/answer/reply.h"
#include "server/request/request_state.h"
#include "server/worker/worker.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

/* How long each state may last, and what happens when it lasts longer. */

/* Whom does a connection wait for that answers a request? */
static enum mk_h1_state answering_state(const struct mk_conn *c)
{
    const struct mk_request *r = &c->job->request;

    if (!mk_h1_has_request(c) || c->leftover_len > 0 ||
        !(mk_asking_is_parked(r) || r->answering == MK_ANSWERING_STARVED))
        return MK_H1_REPLY;
    return r->receiving == MK_RECEIVING_READING && !c->readable ? MK_H1_BODY : MK_H1_HANDLER;
}

static void settle_answering(struct mk_conn *c)
{
    enum mk_h1_state now = answering_state(c);

    if (now != (enum mk_h1_state)c->state)
        mk_conn_go(c, now);
}

/* Only the time that runs needs to know, so that it is not asked before. */
static inline void settle_state(struct mk_conn *c)
{
    if (MK_UNLIKELY(mk_conn_is_answering(c)))
        settle_answering(c);
}

enum { FOREVER_MS = INT32_MAX, DAY_MS = 24 * 3600 * 1000 };

static int64_t handler_timeout(const struct mk_conn *c)
{
    uint32_t patience_ms = c->job->request.patience_ms;

    return patience_ms > 0 ? patience_ms : FOREVER_MS;
}

/* A client that comes without a byte has been silent in the kernel already; one that shook hands has not been. */
static int64_t silent_timeout(const struct mk_conn *c, int64_t timeout_ms)
{
    int64_t spent_ms = c->peer.is_unix || c->link.state ? 0 : MK_FD_DEFER_S * 1000;

    return timeout_ms > spent_ms ? timeout_ms - spent_ms : 0;
}

/* ---- the pace of a whole body and of a whole reading ---- */

static int64_t at_most(int64_t ms, int64_t most_ms)
{
    return ms < most_ms ? ms : most_ms;
}

static int64_t reader_timeout(const struct mk_conn *c)
{
    const struct mk_server_settings *set = mk_h1_settings(c);
    int64_t grace_ms = set->write_timeout_ms;

    return set->min_read_rate == 0 ? grace_ms : at_most(grace_ms, grace_ms - c->behind_ms);
}

static bool waited_for_reader(const struct mk_conn *c)
{
    return c->timed_state == MK_H1_REPLY || c->timed_state == MK_H1_FLUSH;
}

/* What was read faster counts for one grace ahead, no more: the kernel's buffers take much that no client has read. */
static void book_reader(struct mk_conn *c, uint32_t waited_ms)
{
    const struct mk_server_settings *set = mk_h1_settings(c);
    int64_t rate = set->min_read_rate, behind_ms = c->behind_ms;

    if (rate == 0)
        return;
    if (waited_for_reader(c))
        behind_ms += waited_ms;
    behind_ms -= mk_request_time_for(c->sent, rate);
    c->behind_ms = (int32_t)(behind_ms < -set->write_timeout_ms ? -set->write_timeout_ms
                             : behind_ms > DAY_MS               ? DAY_MS
                                                                : behind_ms);
}

/* A wait is over: to whose account does it go? */
static void book_wait(struct mk_conn *c)
{
    uint32_t waited_ms;

    if (c->state == MK_H1_IDLE) { /* all was read: the next answer has a whole grace again */
        c->behind_ms = 0;
        return;
    }
    waited_ms = (uint32_t)c->worker->loop.clock.mono_ms - c->holding.since_ms;
    if (c->timed_state == MK_H1_BODY && mk_h1_has_request(c))
        c->job->request.body_waited_ms += waited_ms;
    else if (waited_for_reader(c) || c->sent > 0)
        book_reader(c, waited_ms);
}

/* ---- the end of a connection whose peer may still send ---- */

bool mk_h1_is_delivered(const struct mk_conn *c)
{
    int left = 0;

    return ioctl(c->link.fd, SIOCOUTQ, &left) < 0 || left == 0;
}

static uint32_t waited_ms(const struct mk_conn *c)
{
    return (uint32_t)c->worker->loop.clock.mono_ms - c->holding.since_ms;
}

/* What is left of the whole time. */
static int64_t linger_left(const struct mk_conn *c)
{
    bool hurries = c->worker->stopping || mk_crowd_is_near(c->worker->shared);
    int64_t spent_ms = c->timed_state == MK_H1_LINGER ? waited_ms(c) : 0;

    return (hurries ? MK_LIMIT_LINGER_HURRY_MS : MK_LIMIT_LINGER_MS) - spent_ms;
}

/* A client that uploads is heard as long as it goes on, one that drips not longer than one that is silent. */
static int64_t linger_timeout(const struct mk_conn *c)
{
    int64_t spent_ms = c->timed_state == MK_H1_LINGER ? waited_ms(c) : 0;
    int64_t paid_ms =
        MK_LIMIT_LINGER_QUIET_MS + mk_request_time_for(c->lingered, MK_LIMIT_LINGER_RATE);

    return at_most(linger_left(c), at_most(MK_LIMIT_LINGER_QUIET_MS, paid_ms - spent_ms));
}

/* @return whether it goes on: a reset would destroy what the peer has not yet. */
static bool lingers_on(struct mk_conn *c)
{
    int64_t left_ms = linger_left(c);

    if (left_ms <= 0 || mk_h1_is_delivered(c))
        return false;
    mk_timer_set(&c->worker->loop.wheel, &c->timer,
                 c->worker->loop.clock.mono_ms + at_most(MK_LIMIT_LINGER_QUIET_MS, left_ms));
    return true;
}

static int64_t timeout_of(const struct mk_conn *c)
{
    const struct mk_server_settings *set = mk_h1_settings(c);

    switch ((enum mk_h1_state)c->state) {
    case MK_H1_OFFER:
    case MK_H1_IDLE:
        return c->requests > 0 ? set->keepalive_timeout_ms : silent_timeout(c, set->timeout_ms);
    case MK_H1_REPLY:
    case MK_H1_FLUSH:
        return reader_timeout(c);
    case MK_H1_BODY:
        return mk_request_sender_ms(&c->job->request);
    case MK_H1_HANDLER:
        return handler_timeout(c);
    case MK_H1_DRAIN:
        return c->job->request.site->set.body_timeout_ms;
    case MK_H1_LINGER:
        return linger_timeout(c);
    default:
        return set->timeout_ms;
    }
}

/* Bytes that move the way that is waited for renew what is measured by progress; a head and a body that nobody wants
 * have one time for the whole. */
static bool has_progress(const struct mk_conn *c)
{
    switch ((enum mk_h1_state)c->state) {
    case MK_H1_REPLY:
    case MK_H1_FLUSH:
        return c->sent > 0;
    case MK_H1_BODY:
    case MK_H1_LINGER:
        return c->progress;
    case MK_H1_HANDLER:
        return c->progress || c->sent > 0;
    default:
        return false;
    }
}

void mk_h1_set_timeout(struct mk_conn *c)
{
    struct mk_loop *loop = &c->worker->loop;
    bool first_wait = MK_UNLIKELY(c->requests == 0) &&
                      (c->timed_state == MK_H1_IDLE || c->timed_state == MK_H1_OFFER) &&
                      (c->state == MK_H1_HEAD || c->state == MK_H1_IDLE);

    settle_state(c);
    if (c->timed_state == c->state && !has_progress(c))
        return;
    book_wait(c);
    if (!first_wait) { /* the first head's time runs from the accept */
        mk_timer_set(&loop->wheel, &c->timer, loop->clock.mono_ms + timeout_of(c));
        if (c->state != MK_H1_LINGER || c->timed_state != MK_H1_LINGER)
            c->holding.since_ms = (uint32_t)loop->clock.mono_ms;
    }
    c->timed_state = c->state;
    c->progress = false;
    c->sent = 0;
}

static bool refuse_late(struct mk_conn *c, enum mk_refusal refusal, enum mk_close otherwise)
{
    struct mk_request *r = &c->job->request;

    if (r->status != 0) {
        mk_conn_close(c, otherwise);
        return false;
    }
    mk_asking_unpark(r);
    mk_reply_refuse(r, refusal);
    mk_conn_go(c, MK_H1_REPLY);
    return true;
}

void mk_h1_renew_timeout(struct mk_conn *c)
{
    c->timed_state = MK_H1_STATE_COUNT;
    if (mk_conn_is_answering(c))
        mk_h1_set_timeout(c);
}

void mk_h1_hurry(struct mk_conn *c)
{
    c->timed_state = MK_H1_STATE_COUNT;
    mk_h1_set_timeout(c);
}

static bool refuse_handler(struct mk_conn *c)
{
    const struct mk_request *r = &c->job->request;

    if (r->patience_ms == 0) {
        mk_h1_renew_timeout(c);
        return false;
    }
    mk_request_log_slow_handler(r);
    return refuse_late(c, MK_REFUSAL_HANDLER_SLOW, MK_CLOSE_SOURCE);
}

bool mk_h1_on_timeout(struct mk_conn *c)
{
    settle_state(c);
    switch ((enum mk_h1_state)c->state) {
    case MK_H1_OFFER:
    case MK_H1_IDLE:
        if (c->requests > 0) {
            mk_h1_end(c, MK_CLOSE_IDLE);
            return true;
        }
        mk_conn_close(c, MK_CLOSE_SILENT);
        return false;
    case MK_H1_HEAD:
        c->requests++;
        return refuse_late(c, MK_REFUSAL_HEAD_SLOW, MK_CLOSE_SILENT);
    case MK_H1_BODY:
        return refuse_late(c, MK_REFUSAL_BODY_SLOW, MK_CLOSE_SOURCE);
    case MK_H1_HANDLER:
        return refuse_handler(c);
    case MK_H1_DRAIN:
        mk_h1_end_drain(c);
        return true;
    case MK_H1_LINGER:
        if (lingers_on(c))
            return false;
        mk_conn_close(c, c->close_reason == MK_CLOSE_DONE ? MK_CLOSE_LINGERED : c->close_reason);
        return false;
    case MK_H1_PROXY:
        mk_conn_close(c, MK_CLOSE_PROXY);
        return false;
    default:
        mk_conn_close(c, MK_CLOSE_STALLED);
        return false;
    }
}

/* What a peer is behind: never less than what it has been silent for. */
static uint32_t behind(int64_t before_ms, uint32_t silent_ms)
{
    return before_ms > 0 ? (uint32_t)before_ms + silent_ms : silent_ms;
}

uint32_t mk_h1_useless_ms(const struct mk_conn *c)
{
    uint32_t silent_ms = (uint32_t)c->worker->loop.clock.mono_ms - c->holding.since_ms;

    switch ((enum mk_h1_state)c->timed_state) {
    case MK_H1_OFFER:
    case MK_H1_IDLE:
    case MK_H1_HEAD:
    case MK_H1_DRAIN:
    case MK_H1_LINGER:
        return silent_ms;
    case MK_H1_REPLY:
    case MK_H1_FLUSH:
        return behind(c->behind_ms, silent_ms);
    case MK_H1_BODY:
        return behind(c->job->request.site->set.body_timeout_ms -
                          mk_request_sender_ms(&c->job->request),
                      silent_ms);
    default:
        return 0;
    }
}
