/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fd.h"
#include "server/h1_int.h"
#include "server/reply.h"
#include "server/stage.h"

/* How long each state may last, and what happens when it lasts longer. */

/* A producer that waits for the request's body waits for the peer to send; all else in REPLY waits for it to read. */
static bool waits_for_body(const struct mk_conn *c)
{
    return mk_h1_has_request(c) && !c->job->request.body_done && c->leftover_len == 0 &&
           !c->readable;
}

/* The peer has read all there is, and a plugin has no more for now. */
static bool waits_for_handler(const struct mk_conn *c)
{
    const struct mk_request *r = &c->job->request;

    return mk_h1_has_request(c) && (r->waits_in || r->starved) && c->leftover_len == 0;
}

enum { FOREVER_MS = INT32_MAX };

static int64_t handler_timeout(const struct mk_conn *c)
{
    uint32_t patience_ms = c->job->request.patience_ms;

    return patience_ms > 0 ? patience_ms : FOREVER_MS;
}

/* A client that comes without a byte has been silent in the kernel already. */
static int64_t silent_timeout(const struct mk_conn *c, int64_t timeout_ms)
{
    int64_t spent_ms = c->peer.is_unix ? 0 : MK_FD_DEFER_S * 1000;

    return timeout_ms > spent_ms ? timeout_ms - spent_ms : 0;
}

static int64_t timeout_of(const struct mk_conn *c)
{
    const struct mk_server_settings *set = mk_h1_settings(c);

    switch ((enum mk_h1_state)c->state) {
    case MK_H1_IDLE:
        return c->requests > 0 ? set->keepalive_timeout_ms : silent_timeout(c, set->timeout_ms);
    case MK_H1_REPLY:
        if (waits_for_body(c))
            return set->body_timeout_ms;
        return waits_for_handler(c) ? handler_timeout(c) : set->write_timeout_ms;
    case MK_H1_DRAIN:
        return set->body_timeout_ms;
    case MK_H1_FLUSH:
        return set->write_timeout_ms;
    case MK_H1_LINGER:
        return MK_LIMIT_LINGER_MS;
    default:
        return set->timeout_ms;
    }
}

/* Moving bytes renew what is measured by progress; a head and a linger have one time for the whole. */
static bool renews_on_progress(uint8_t state)
{
    return state == MK_H1_REPLY || state == MK_H1_DRAIN || state == MK_H1_FLUSH;
}

void mk_h1_set_timeout(struct mk_conn *c)
{
    struct mk_loop *loop = &c->worker->loop;
    bool first_wait = c->timed_state == MK_H1_IDLE && c->state == MK_H1_HEAD && c->requests == 0;

    if (c->timed_state == c->state && !(c->progress && renews_on_progress(c->state)))
        return;
    if (!first_wait) /* the first head's time runs from the accept */
        mk_timer_set(&loop->wheel, &c->timer, loop->clock.mono_ms + timeout_of(c));
    c->timed_state = c->state;
    c->progress = false;
}

static bool refuse_late(struct mk_conn *c, enum mk_refusal refusal, enum mk_close otherwise)
{
    struct mk_request *r = &c->job->request;

    if (r->status != 0) {
        mk_conn_close(c, otherwise);
        return false;
    }
    r->waits_in = MK_STAGE_NONE;
    mk_reply_refuse(r, refusal);
    c->state = MK_H1_REPLY;
    return true;
}

void mk_h1_renew_timeout(struct mk_conn *c)
{
    c->timed_state = MK_H1_STATE_COUNT;
    if (c->state == MK_H1_REPLY)
        mk_h1_set_timeout(c);
}

static bool refuse_handler(struct mk_conn *c)
{
    const struct mk_request *r = &c->job->request;

    if (r->patience_ms == 0) {
        mk_h1_renew_timeout(c);
        return false;
    }
    mk_log_peer(mk_worker_log(c->worker), MK_LOG_ERROR, MK_LOG_PLUGIN,
                "plugin did not answer in time plugin=%s conn=%llu",
                r->asked ? r->asked->name : "?", (unsigned long long)c->id);
    return refuse_late(c, MK_REFUSAL_HANDLER_SLOW, MK_CLOSE_SOURCE);
}

bool mk_h1_on_timeout(struct mk_conn *c)
{
    switch ((enum mk_h1_state)c->state) {
    case MK_H1_IDLE:
        mk_conn_close(c, c->requests > 0 ? MK_CLOSE_IDLE : MK_CLOSE_SILENT);
        return false;
    case MK_H1_HEAD:
        c->requests++;
        return refuse_late(c, MK_REFUSAL_HEAD_SLOW, MK_CLOSE_SILENT);
    case MK_H1_REPLY:
        if (waits_for_body(c))
            return refuse_late(c, MK_REFUSAL_BODY_SLOW, MK_CLOSE_SOURCE);
        if (waits_for_handler(c))
            return refuse_handler(c);
        mk_conn_close(c, MK_CLOSE_STALLED);
        return false;
    case MK_H1_LINGER:
        mk_conn_close(c, MK_CLOSE_LINGERED);
        return false;
    case MK_H1_PROXY:
        mk_conn_close(c, MK_CLOSE_PROXY);
        return false;
    default:
        mk_conn_close(c, MK_CLOSE_STALLED);
        return false;
    }
}
