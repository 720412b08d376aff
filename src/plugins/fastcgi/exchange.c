/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange.h"

#include <errno.h>

static const char key; /* of what is kept with a request */

#define RETRY_AFTER "Retry-After: 1\r\n"

/* ---- what ends ---- */

static void let_go(struct exchange *x)
{
    if (x->held)
        atomic_fetch_sub_explicit(&x->server->backend->busy, 1, memory_order_relaxed);
    x->held = false;
}

void exchange_leave(struct exchange *x, bool reusable)
{
    let_go(x);
    x->armed = false;
    if (x->s)
        mk_upstream_give(x->server->backend->upstream, x->s, reusable && x->location->keep_alive);
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

    if (!s || !x->location->keep_alive || !send_is_done(x) || x->in.error != 0 ||
        !is_answered(&x->answer)) {
        exchange_leave(x, false);
        return;
    }
    let_go(x);
    x->s = NULL;
    linger(x->server->backend, s, &x->in.reader);
}

/* Nothing is awaited any more; may be called again. */
static void finish(struct exchange *x)
{
    if (x->wait)
        mk_upstream_cancel(x->wait);
    x->wait = NULL;
    if (x->complaint.len > 0)
        receive_end_complaint(x);
    part(x);
    buffers_give(&x->local->buffers, x->out.buf);
    buffers_give(&x->local->buffers, x->in.buf);
    x->out.buf = x->in.buf = NULL;
    gateway_body_fini(&x->body);
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
    gateway_answer_fail(&x->answer, error == MK_E_LIMIT ? 413 : 400, NULL);
    finish(x);
    return MK_VERDICT_DONE;
}

static void log_failure(const struct exchange *x, const char *why)
{
    mk_request_log(x->r, MK_LOG_ERROR, "fastcgi failed server=%s why=\"%s\"", x->server->name, why);
}

/* The server, not the request, is at fault: others are asked first for some time. */
static void blame(const struct exchange *x, const char *why)
{
    const struct fcgi_server *server = x->server;

    log_failure(x, why);
    if (backend_failed(server->backend, mk_worker_now_ms(x->worker), server->offline_ms) &&
        x->location->nservers > 1)
        mk_request_log(x->r, MK_LOG_WARN, "fastcgi server offline server=%s ms=%lld", server->name,
                       (long long)server->offline_ms);
}

static void praise(const struct exchange *x)
{
    if (backend_works(x->server->backend) && x->location->nservers > 1)
        mk_request_log(x->r, MK_LOG_INFO, "fastcgi server online server=%s", x->server->name);
}

/* ---- time ---- */

void exchange_arm(struct exchange *x)
{
    if (x->s && !x->armed)
        mk_stream_timeout(x->s, (unsigned)x->server->read_ms);
    x->armed = x->s != NULL;
}

void exchange_disarm(struct exchange *x)
{
    if (x->s && x->armed)
        mk_stream_timeout(x->s, 0);
    x->armed = false;
}

/* ---- a server, and its connection ---- */

static void on_connected(void *arg, struct mk_stream *s, bool fresh, int error);

static int take(struct exchange *x, bool fresh)
{
    struct backend *b = x->server->backend;
    int err = mk_upstream_take(b->upstream, x->worker, fresh, on_connected, x, &x->wait);

    if (err < 0) {
        x->wait = NULL;
        return err;
    }
    atomic_fetch_add_explicit(&b->busy, 1, memory_order_relaxed);
    x->held = true;
    return 0;
}

static int choose(struct exchange *x)
{
    const struct fcgi_location *l = x->location;
    struct choice choices[CHOICE_MAX];

    for (unsigned i = 0; i < l->nservers; i++)
        choices[i] = backend_choice(l->servers[i]->backend);
    return choice_make(choices, l->nservers, x->tried, mk_worker_now_ms(x->worker),
                       x->local->turn++);
}

/* Ask the servers that are left. @return 0, or the last one's error; why when none is left. */
static int ask(struct exchange *x, int why)
{
    for (;;) {
        int i = choose(x);

        if (i < 0)
            return why;
        x->at_server = (unsigned)i;
        x->server = x->location->servers[i];
        x->renewed = false;
        why = take(x, false);
        if (why == 0)
            return 0;
        x->tried |= UINT64_C(1) << i;
    }
}

static int ask_others(struct exchange *x, int why)
{
    x->tried |= UINT64_C(1) << x->at_server;
    return ask(x, why);
}

/* Is it a fault of the server, and not of load or of ours? */
static bool is_broken(int error)
{
    return error != MK_E_BUSY && error != MK_E_NOMEM && error != MK_E_NOFD;
}

static void on_refused(struct exchange *x, int error)
{
    let_go(x);
    if (is_broken(error))
        blame(x, mk_error_text(error));
    else
        log_failure(x, error == MK_E_BUSY ? "no connection is free" : mk_error_text(error));
    x->error = ask_others(x, error);
    if (x->error < 0)
        mk_request_resume(x->r);
}

/*
 * The first event that says "read" is no news: it comes with every connection, and what has really come makes another one,
 * before or behind it. Room to write is no news when all is sent.
 */
static bool is_news(struct exchange *x, unsigned events)
{
    bool is_first = x->untold && (events & MK_IO_READ);

    if (is_first)
        x->untold = false;
    return !send_is_done(x) || (events & ~(unsigned)MK_IO_WRITE) != (is_first ? MK_IO_READ : 0U);
}

static void on_server(struct mk_stream *s, unsigned events, void *arg)
{
    struct exchange *x = arg;

    (void)s;
    if ((events & MK_IO_TIMEOUT) && x->armed)
        x->late = true;
    if (!is_news(x, events)) {
        exchange_arm(x);
        return;
    }
    if (events & (MK_IO_READ | MK_IO_HANGUP | MK_IO_ERROR))
        exchange_disarm(x);
    if (events & MK_IO_WRITE)
        x->error = send_some(x);
    mk_request_resume(x->r);
}

/*
 * The server may have closed it while it was idle, and the event is still under way. What must not be sent twice deserves
 * to be sure.
 */
static bool is_stale(struct mk_stream *s)
{
    int fd = mk_stream_fd(s);
    char byte;

    return fd >= 0 && !(recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN);
}

/* A new connection to the same server. */
static int renew(struct exchange *x)
{
    exchange_leave(x, false);
    x->renewed = true;
    return take(x, true);
}

static void on_connected(void *arg, struct mk_stream *s, bool fresh, int error)
{
    struct exchange *x = arg;

    x->wait = NULL;
    if (!s) {
        on_refused(x, error);
        return;
    }
    x->s = s;
    x->fresh = fresh;
    x->untold = true;
    x->in = (struct incoming){.buf = x->in.buf};
    mk_stream_tell(s, on_server, x);
    if (!fresh && !x->idempotent && !x->renewed && is_stale(s))
        x->error = renew(x);
    else
        x->error = send_some(x);
    if (x->error < 0)
        mk_request_resume(x->r);
}

/* ---- again ---- */

static bool may_repeat(const struct exchange *x)
{
    return x->idempotent ? send_can_repeat(x) : !x->out.any;
}

/* What was sent is still in the buffer that was to take the answer. */
static void take_back_buffer(struct exchange *x)
{
    if (x->out.buf)
        return;
    x->out.buf = x->in.buf;
    x->in.buf = NULL;
}

/* The connection ended before the first byte of an answer. @return 0: another one is waited for; or why that is all. */
static int repeat(struct exchange *x, int why)
{
    bool was_idle = !x->fresh && !x->renewed;
    int err;

    if (!was_idle)
        blame(x, "the connection ended before an answer");
    if (!may_repeat(x)) {
        if (was_idle)
            log_failure(x, "an idle connection had ended");
        return why;
    }
    exchange_leave(x, false);
    take_back_buffer(x);
    err = send_repeat(x);
    if (err < 0)
        return err;
    return was_idle ? renew(x) : ask_others(x, why);
}

/* ---- a request's turn ---- */

static enum mk_verdict fail_prepare(struct exchange *x, int error)
{
    if (error == MK_E_AGAIN)
        return MK_VERDICT_LATER;
    if (error == MK_E_NOMEM)
        return fail(x, error);
    if (x->out.len > 0)
        return fail_body(x, error);
    gateway_answer_fail(&x->answer, 431, NULL);
    finish(x);
    return MK_VERDICT_DONE;
}

static enum mk_verdict begin(struct exchange *x)
{
    enum mk_verdict verdict = gateway_body_gather(&x->body, x->r, x->location->spool_dir);
    int err;

    if (verdict != MK_VERDICT_PASS)
        return verdict;
    err = send_prepare(x);
    if (err < 0)
        return fail_prepare(x, err);
    x->begun = true;
    err = ask(x, MK_E_PEER);
    return err < 0 ? fail(x, err) : MK_VERDICT_PASS;
}

static enum mk_verdict fail_cut(struct exchange *x, int error)
{
    if (error == MK_E_PEER && !x->in.any) {
        error = repeat(x, error);
        if (error == 0)
            return MK_VERDICT_LATER;
    } else if (error == MK_E_TIMEOUT) {
        log_failure(x, "no byte within ReadTimeout");
    } else if (error == MK_E_PEER) {
        log_failure(x, "the connection ended within the answer");
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
        err = send_some(x);
    if (err < 0)
        return x->s ? fail_body(x, err) : fail(x, err);
    err = receive_some(x);
    if (err == MK_E_AGAIN)
        return MK_VERDICT_LATER;
    if (err < 0)
        return fail_cut(x, err);
    praise(x);
    return answer(x);
}

/* ---- from the first call on ---- */

static bool is_idempotent(struct mk_str method)
{
    static const struct mk_str methods[] = {
        MK_STR_INIT("GET"), MK_STR_INIT("HEAD"),   MK_STR_INIT("OPTIONS"),
        MK_STR_INIT("PUT"), MK_STR_INIT("DELETE"), MK_STR_INIT("TRACE"),
    };

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (method.len == methods[i].len && memcmp(method.p, methods[i].p, method.len) == 0)
            return true;
    }
    return false;
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
        .idempotent = is_idempotent(f.method),
    };
    gateway_body_init(&x->body, r);
    gateway_answer_init(&x->answer, r, MK_RESPONSE_CGI, receive_output, x);
    x->answer.left = receive_left;
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
    verdict = target_find(x, r, &left_alone);
    if (verdict != MK_VERDICT_PASS || left_alone)
        return verdict;
    if (mk_request_keep(r, &key, x) < 0 || mk_request_on_end(r, on_end, x) < 0)
        return mk_reply_error(r, 503, NULL);
    mk_request_ends_on_hangup(r, true);
    mk_request_timeout(r, 0); /* every wait has an end of its own */
    verdict = begin(x);
    return verdict == MK_VERDICT_PASS ? MK_VERDICT_LATER : verdict;
}

enum mk_verdict exchange_handle(struct mk_request *r, const struct mk_context *ctx,
                                const struct fcgi_location *location)
{
    struct exchange *x = mk_request_kept(r, &key);
    enum mk_verdict verdict;

    if (!x)
        return handle_new(r, ctx, location);
    if (x->begun)
        return go_on(x);
    verdict = begin(x);
    return verdict == MK_VERDICT_PASS ? MK_VERDICT_LATER : verdict;
}
