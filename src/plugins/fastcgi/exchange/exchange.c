/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/exchange.h"

#include "kit/backends/repeat.h"

static const char key; /* of what is kept with a request */

#define RETRY_AFTER "Retry-After: 1\r\n"

/* ---- states ---- */

void fastcgi_exchange_trace(const void *exchange, const struct states *table, unsigned was,
                            unsigned is)
{
    const struct exchange *x = exchange;

    mk_request_log(x->r, MK_LOG_TRACE, "fastcgi state of=%s was=%s is=%s server=%s", table->of,
                   table->rows[was].name, table->rows[is].name, x->server ? x->server->name : "-");
}

/* ---- what ends ---- */

void fastcgi_exchange_leave(struct exchange *x, bool reusable)
{
    fastcgi_attempt_count_out(x);
    upload_leave(&x->upload);
    if (x->time == TIME_RUNS)
        exchange_turn(x, &fastcgi_time_states, &x->time, TIME_IDLE);
    if (x->s)
        mk_upstream_give(x->server->backend->pool->upstream, x->s,
                         reusable && x->location->keep_alive);
    x->s = NULL;
}

/* The client has all that it will get of the answer. */
static bool is_answered(const struct gateway_answer *a)
{
    return a->progress == GATEWAY_BODY &&
           (a->ended || a->head_only || a->head.status == 204 || a->head.status == 304);
}

/* The connection of an answer that is complete may be kept; one that is not is closed, which ends the work for it. */
static void part(struct exchange *x)
{
    struct mk_stream *s = x->s;

    if (!s || !x->location->keep_alive || !fastcgi_send_is_done(x) || x->in.error != 0 ||
        !is_answered(&x->answer)) {
        fastcgi_exchange_leave(x, false);
        return;
    }
    fastcgi_attempt_count_out(x);
    upload_leave(&x->upload);
    x->s = NULL;
    fastcgi_linger(x->server->backend, s, &x->in.reader);
}

/* Nothing is awaited any more; may be called again. */
static void finish(struct exchange *x)
{
    if (x->wait)
        mk_upstream_cancel(x->wait);
    x->wait = NULL;
    if (x->complaint.len > 0)
        fastcgi_receive_end_complaint(x);
    part(x);
    fastcgi_buffers_give(&x->local->buffers, x->out.buf);
    fastcgi_buffers_give(&x->local->buffers, x->in.buf);
    x->out.buf = x->in.buf = NULL;
    gateway_answer_fini(&x->answer);
    intake_fini(&x->body);
    if (x->state != EXCHANGE_OVER)
        exchange_turn(x, &fastcgi_exchange_states, &x->state, EXCHANGE_OVER);
}

static void on_end(void *arg)
{
    finish(arg);
}

/* ---- errors ---- */

static unsigned status_of(int error)
{
    switch (error) {
    case MK_E_TIMEOUT:
        return 504;
    case MK_E_BUSY:
    case MK_E_NOMEM:
    case MK_E_NOFD:
        return 503;
    default:
        return 502;
    }
}

static enum mk_verdict fail(struct exchange *x, int error)
{
    unsigned status = status_of(error);

    gateway_answer_fail(&x->answer, status, status == 503 ? RETRY_AFTER : NULL);
    finish(x);
    return MK_VERDICT_DONE;
}

/* The client's own fault, or it left. */
static enum mk_verdict fail_body(struct exchange *x, int error)
{
    if (error == MK_E_PEER && x->answer.progress == GATEWAY_HEAD) {
        finish(x);
        return MK_VERDICT_CLOSE;
    }
    gateway_answer_fail(&x->answer,
                        error == MK_E_LIMIT ? 413
                        : error == MK_E_SYS ? 500
                                            : 400,
                        NULL);
    finish(x);
    return MK_VERDICT_DONE;
}

/* Its upload has become slow, and others wait for its connection. */
static void end_slow(struct upload *upload)
{
    struct exchange *x =
        (struct exchange *)(void *)((char *)upload - offsetof(struct exchange, upload));

    fastcgi_attempt_log(x, "ended, because the client sends too slowly while others wait");
    gateway_answer_fail(&x->answer, 408, NULL);
    finish(x);
}

int fastcgi_exchange_hold(struct exchange *x)
{
    return upload_begin(&x->upload, x->server->backend->pool->uploads, x->worker, &x->body,
                        end_slow);
}

/* ---- time ---- */

void fastcgi_exchange_arm(struct exchange *x)
{
    if (!x->s || x->time != TIME_IDLE)
        return;
    mk_stream_timeout(x->s, (unsigned)x->server->read_ms);
    exchange_turn(x, &fastcgi_time_states, &x->time, TIME_RUNS);
}

void fastcgi_exchange_disarm(struct exchange *x)
{
    if (!x->s || x->time != TIME_RUNS)
        return;
    mk_stream_timeout(x->s, 0);
    exchange_turn(x, &fastcgi_time_states, &x->time, TIME_IDLE);
}

/* ---- a request's turn ---- */

static enum mk_verdict fail_prepare(struct exchange *x, int error)
{
    if (error == MK_E_AGAIN)
        return MK_VERDICT_LATER;
    if (error == MK_E_NOMEM)
        return fail(x, error);
    if (x->written != WRITTEN_NONE)
        return fail_body(x, error);
    gateway_answer_fail(&x->answer, 431, NULL);
    finish(x);
    return MK_VERDICT_DONE;
}

static enum mk_verdict begin(struct exchange *x)
{
    enum mk_verdict verdict = intake_gather(&x->body, x->r, x->location->spool_dir);
    int err;

    if (verdict != MK_VERDICT_PASS)
        return verdict;
    err = fastcgi_send_prepare(x);
    if (err < 0)
        return fail_prepare(x, err);
    err = fastcgi_attempt_begin(x);
    return err < 0 ? fail(x, err) : MK_VERDICT_PASS;
}

static enum mk_verdict fail_cut(struct exchange *x, int error)
{
    if (error == MK_E_PEER && x->state == EXCHANGE_SEND) {
        error = fastcgi_attempt_repeat(x, error);
        if (error == 0)
            return MK_VERDICT_LATER;
    } else if (error == MK_E_TIMEOUT) {
        fastcgi_attempt_log(x, "no byte within ReadTimeout");
    } else if (error == MK_E_PEER) {
        fastcgi_attempt_log(x, "the connection ended during the answer");
    }
    return fail(x, error);
}

static enum mk_verdict answer(struct exchange *x)
{
    switch (gateway_answer_input(&x->answer)) {
    case GATEWAY_HEAD:
        return MK_VERDICT_LATER;
    case GATEWAY_MOVED:
        finish(x);
        return mk_request_keep(x->r, &key, NULL) < 0 ? MK_VERDICT_CLOSE : MK_VERDICT_LATER;
    case GATEWAY_FAILED:
        finish(x);
        break;
    case GATEWAY_BODY:
        break;
    }
    return MK_VERDICT_DONE;
}

static enum mk_verdict go_on(struct exchange *x)
{
    int err = x->error;

    if (err == 0 && !x->s && x->in.error == 0)
        return MK_VERDICT_LATER;
    if (err == 0)
        err = fastcgi_send_some(x);
    if (err < 0)
        return x->s ? fail_body(x, err) : fail(x, err);
    err = fastcgi_receive_some(x);
    if (err == MK_E_AGAIN)
        return MK_VERDICT_LATER;
    if (err < 0)
        return fail_cut(x, err);
    fastcgi_attempt_worked(x);
    return answer(x);
}

/* ---- from the first call on ---- */

static void hold_head(void *arg, size_t bytes)
{
    struct exchange *x = arg;

    intake_hold(&x->body, x->r, bytes);
}

static struct exchange *exchange_new(struct mk_request *r, const struct mk_context *ctx,
                                     const struct fcgi_location *location)
{
    struct mk_request_facts f = {.size = sizeof(f)};
    struct exchange *x = mk_request_alloc(r, sizeof(*x));

    if (!x)
        return NULL;
    mk_request_facts(r, &f);
    *x = (struct exchange){
        .r = r,
        .worker = ctx->worker,
        .local = ctx->local,
        .location = location,
        .is_traced = mk_request_logs(r, MK_LOG_TRACE),
        .is_idempotent = backend_is_idempotent(f.method),
    };
    intake_init(&x->body, r, &f, (enum intake_mode)location->buffering, true);
    gateway_answer_init(&x->answer, r, MK_RESPONSE_CGI, location->max_answer_head,
                        fastcgi_receive_output, x);
    x->answer.left = fastcgi_receive_left;
    x->answer.hold = hold_head;
    return x;
}

static enum mk_verdict handle_new(struct mk_request *r, const struct mk_context *ctx,
                                  const struct fcgi_location *location)
{
    struct exchange *x = exchange_new(r, ctx, location);
    enum mk_verdict verdict;
    bool left_alone;

    if (!x)
        return mk_reply_error(r, 503, NULL);
    verdict = fastcgi_target_find(x, r, &left_alone);
    if (verdict != MK_VERDICT_PASS || left_alone)
        return verdict;
    if (mk_request_keep(r, &key, x) < 0 || mk_request_on_end(r, on_end, x) < 0)
        return mk_reply_error(r, 503, NULL);
    mk_request_ends_on_hangup(r, true);
    mk_request_timeout(r, 0); /* every wait has an end of its own */
    verdict = begin(x);
    return verdict == MK_VERDICT_PASS ? MK_VERDICT_LATER : verdict;
}

enum mk_verdict fastcgi_exchange_handle(struct mk_request *r, const struct mk_context *ctx,
                                        const struct fcgi_location *location)
{
    struct exchange *x = mk_request_kept(r, &key);
    enum mk_verdict verdict;

    if (!x)
        return handle_new(r, ctx, location);
    if (x->state != EXCHANGE_GATHER)
        return go_on(x);
    verdict = begin(x);
    return verdict == MK_VERDICT_PASS ? MK_VERDICT_LATER : verdict;
}
