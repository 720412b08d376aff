/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fd.h"
#include "server/h1_int.h"
#include "server/reply.h"
#include "server/stage.h"

/* How long each state may last, and what happens when it lasts longer. */

/* Whom a connection in REPLY waits for. Its values are none of the states', so that both fit timed_state. */
enum wait {
    WAIT_READER = MK_H1_REPLY,           /* the peer: it is to take what is there */
    WAIT_SENDER = MK_H1_STATE_COUNT + 1, /* the peer: its body is being read */
    WAIT_HANDLER,
};

static enum wait wait_in_reply(const struct mk_conn *c)
{
    const struct mk_request *r = &c->job->request;

    if (!mk_h1_has_request(c) || c->leftover_len > 0 || !(r->waits_in || r->starved))
        return WAIT_READER;
    return r->reads_body && !r->body_done && !c->readable ? WAIT_SENDER : WAIT_HANDLER;
}

static uint8_t wait_of(const struct mk_conn *c)
{
    return c->state == MK_H1_REPLY ? (uint8_t)wait_in_reply(c) : c->state;
}

enum { FOREVER_MS = INT32_MAX };

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

static int64_t reply_timeout(const struct mk_conn *c)
{
    const struct mk_server_settings *set = mk_h1_settings(c);

    switch (wait_in_reply(c)) {
    case WAIT_SENDER:
        return set->body_timeout_ms;
    case WAIT_HANDLER:
        return handler_timeout(c);
    case WAIT_READER:
        break;
    }
    return set->write_timeout_ms;
}

static int64_t timeout_of(const struct mk_conn *c)
{
    const struct mk_server_settings *set = mk_h1_settings(c);

    switch ((enum mk_h1_state)c->state) {
    case MK_H1_IDLE:
        return c->requests > 0 ? set->keepalive_timeout_ms : silent_timeout(c, set->timeout_ms);
    case MK_H1_REPLY:
        return reply_timeout(c);
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
    uint8_t wait = wait_of(c);

    if (c->timed_state == wait && !(c->progress && renews_on_progress(c->state)))
        return;
    if (!first_wait) /* the first head's time runs from the accept */
        mk_timer_set(&loop->wheel, &c->timer, loop->clock.mono_ms + timeout_of(c));
    c->timed_state = wait;
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

static bool on_reply_timeout(struct mk_conn *c)
{
    switch (wait_in_reply(c)) {
    case WAIT_SENDER:
        return refuse_late(c, MK_REFUSAL_BODY_SLOW, MK_CLOSE_SOURCE);
    case WAIT_HANDLER:
        return refuse_handler(c);
    case WAIT_READER:
        break;
    }
    mk_conn_close(c, MK_CLOSE_STALLED);
    return false;
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
        return on_reply_timeout(c);
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
