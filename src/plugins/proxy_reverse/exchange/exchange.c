/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/exchange.h"

#include "backends/drain.h"
#include "exchange/head.h"

#include "kit/backends/repeat.h"
#include "kit/target/target.h"

#include <limits.h>

enum {
    EXPECT_MS = 1000, /* a backend that does not know of 100 gets the body then */
    REFUSALS_MAX = 3,
};

static const char key; /* of mk_request_keep: only its address counts */

/* ---- states ---- */

void proxy_trace(const void *exchange, const struct states *table, unsigned was, unsigned is)
{
    const struct proxy_exchange *x = exchange;

    mk_request_log(x->r, MK_LOG_TRACE, "proxy state of=%s was=%s is=%s backend=%s", table->of,
                   table->rows[was].name, table->rows[is].name,
                   x->attempt.name ? x->attempt.name : "-");
}

/* ---- time ---- */

void proxy_exchange_time(struct proxy_exchange *x, int64_t ms)
{
    if (ms == 0 && !x->is_timed)
        return;
    x->is_timed = ms > 0;
    proxy_link_timeout(&x->link, (unsigned)ms);
}

/* ---- the end of an attempt ---- */

static void give_connection(struct proxy_exchange *x, bool reusable)
{
    if (!proxy_link_is_open(&x->link))
        return;
    upload_leave(&x->upload);
    proxy_exchange_time(x, 0);
    proxy_link_put(&x->link, reusable);
}

static void end_attempt(struct proxy_exchange *x, enum proxy_outcome outcome)
{
    if (!x->attempt.backend)
        return;
    x->report.outcome = outcome;
    x->report.whole_us = proxy_spent_us(x->began_us);
    backend_notes_time(&x->notes, BACKEND_NOTE_WHOLE);
    proxy_end(&x->attempt, &x->report);
}

/* The body that some send behind the head of an answer to HEAD would be taken for the next answer. */
bool proxy_exchange_keeps(const struct proxy_exchange *x)
{
    return x->set->keep_alive > 0 && x->set->protocol == PROXY_PROTOCOL_OFF && !x->is_head &&
           mk_upstream_is_trusted(x->attempt.upstream);
}

void proxy_exchange_give_up(struct proxy_exchange *x, enum proxy_outcome outcome)
{
    give_connection(x, false);
    end_attempt(x, outcome);
}

void proxy_exchange_finish(struct proxy_exchange *x, bool reusable)
{
    proxy_exchange_turn(x, PROXY_REST);
    give_connection(x, reusable && x->sending == PROXY_WHOLE && x->answer.keep_alive &&
                           proxy_exchange_keeps(x));
    end_attempt(x, PROXY_ANSWERED);
}

/* What is known of the connections says more than that none is left. */
static void say_reason(struct mk_request *r, const char *why)
{
    struct mk_request_facts f = {.size = sizeof(f)};

    mk_request_facts(r, &f);
    if (!f.reason)
        mk_request_reason(r, why);
}

void proxy_exchange_fail(struct proxy_exchange *x, unsigned status, const char *why)
{
    bool has_answered = proxy_has_answered(x);
    char url[TARGET_TEXT];

    if (x->state == PROXY_OVER)
        return;
    proxy_exchange_turn(x, PROXY_OVER);
    mk_request_log(x->r, MK_LOG_WARN,
                   "proxy failed entry=%s backend=%s status=%u why=\"%s\" url=\"%s\"",
                   x->entry->name, x->attempt.name ? x->attempt.name : "-", status, why,
                   target_text(x->r, url));
    say_reason(x->r, why);
    if (has_answered) {
        mk_reply_abort(x->r);
    } else {
        (void)mk_reply_error(x->r, status, status == 503 ? "Retry-After: 1\r\n" : NULL);
        mk_request_resume(x->r);
    }
}

void proxy_exchange_leave(struct proxy_exchange *x)
{
    x->is_moved = true;
    (void)!mk_request_keep(x->r, &key, NULL); /* which takes the place of what is there */
}

/* The request has ended, in whichever way. */
static void on_exchange_end(void *arg)
{
    struct proxy_exchange *x = arg;

    if (!proxy_link_is_open(&x->link))
        proxy_link_put(&x->link, false);
    proxy_exchange_give_up(x, proxy_has_answered(x) ? PROXY_ANSWERED : PROXY_LEFT);
    if (x->state != PROXY_OVER)
        proxy_exchange_turn(x, PROXY_OVER);
    proxy_buffer_put(&x->home->buffers, x->head);
    proxy_buffer_put(&x->home->buffers, x->up);
    proxy_buffer_put(&x->home->buffers, x->down);
    proxy_buffer_put(&x->home->buffers, x->trailers);
    if (x->has_pipe)
        proxy_pipe_put(&x->home->pipes, &x->pipe);
    intake_fini(&x->intake);
}

/* ---- what the backend's connection tells ---- */

/* Who is waited for now? */
static void set_time(struct proxy_exchange *x, int sent)
{
    if (sent == MK_E_AGAIN)
        proxy_exchange_time(x, x->set->send_ms);
    else if (x->reading == PROXY_HELD)
        proxy_exchange_time(x, EXPECT_MS);
    else
        proxy_exchange_time(x, proxy_has_sent(x) ? x->set->read_ms : 0);
}

static void fail_upload(struct proxy_exchange *x, int err)
{
    static const struct {
        int err;
        unsigned status;
        const char *why;
    } rows[] = {
        {MK_E_BAD, 400, "the client's body is malformed"},
        {MK_E_LIMIT, 413, "the client's body is too large"},
        {MK_E_EOF, 400, "the client closed the connection before its body was complete"},
        {MK_E_INVALID, 400, "the request cannot be passed on"},
        {MK_E_UNSUPPORTED, 501, "the backend takes no tunnels over HTTP/2"},
    };

    proxy_exchange_give_up(x, PROXY_LEFT);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].err == err) {
            proxy_exchange_fail(x, rows[i].status, rows[i].why);
            return;
        }
    }
    proxy_exchange_fail(x, 503, mk_error_text(err));
}

/* Before the head of an answer: send, then look whether it is there. It may be before all was sent. */
static void step_request(struct proxy_exchange *x)
{
    int sent;

    if (!x->is_fresh && !proxy_has_left(x) && !proxy_link_is_quiet(&x->link)) {
        proxy_exchange_retry(x, "a kept connection was not quiet");
        return;
    }
    sent = proxy_upload_send(x);
    if (sent < 0 && sent != MK_E_AGAIN && sent != MK_E_PEER) {
        fail_upload(x, sent);
        return;
    }
    set_time(x, sent);
    proxy_answer_read(x);
}

static void on_time(struct proxy_exchange *x)
{
    x->is_timed = false;
    if (x->reading == PROXY_HELD && x->state < PROXY_BODY) {
        proxy_reading_turn(x, PROXY_OPEN);
        step_request(x);
        return;
    }
    proxy_exchange_give_up(x, PROXY_SILENT);
    proxy_exchange_fail(x, 504,
                        x->sending == PROXY_WHOLE || x->state == PROXY_BODY
                            ? "the backend is silent"
                            : "the backend reads nothing");
}

static void on_backend(struct mk_stream *s, unsigned events, void *arg)
{
    struct proxy_exchange *x = arg;

    (void)s;
    if (events & MK_IO_TIMEOUT) {
        on_time(x);
    } else if (x->state == PROXY_BODY) { /* the producer finds out what there is */
        if (events & MK_IO_HANGUP)
            proxy_answer_closed(x);
        proxy_exchange_time(x, 0);
        if (x->passed_ms == 0) /* from now on it is the client that is waited for */
            x->passed_ms = mk_worker_now_ms(x->worker);
        mk_request_resume(x->r);
    } else if (x->sending == PROXY_WHOLE) {
        /* The hook reads and answers: head and body leave in one call then, which they do not when another
         * connection's answer comes between this event and the next. */
        mk_request_resume(x->r);
    } else {
        step_request(x);
    }
}

/* ---- connections ---- */

static void try_next(struct proxy_exchange *x);

/* Its upload has become slow, and others wait for its connection. */
static void end_slow_exchange(struct upload *upload)
{
    struct proxy_exchange *x =
        (struct proxy_exchange *)(void *)((char *)upload - offsetof(struct proxy_exchange, upload));

    proxy_exchange_give_up(x, proxy_has_answered(x) ? PROXY_ANSWERED : PROXY_LEFT);
    proxy_exchange_fail(x, 408, "the client sends too slowly while others wait");
}

/* Without a bound on connections nobody waits for one. */
static int hold(struct proxy_exchange *x)
{
    if (x->set->max_connections == 0 || !proxy_link_is_framed(&x->link))
        return 0;
    return upload_begin(&x->upload, x->attempt.uploads, x->worker, &x->intake, end_slow_exchange);
}

enum { WHY_MAX = 256 };

static void log_no_connection(const struct proxy_exchange *x, int error)
{
    char why[WHY_MAX], url[TARGET_TEXT];

    mk_upstream_why(x->attempt.upstream, x->worker, error, why, sizeof(why));
    mk_request_log(x->r, MK_LOG_WARN,
                   "proxy cannot connect entry=%s backend=%s why=\"%s\" url=\"%s\"", x->entry->name,
                   x->attempt.name, why, target_text(x->r, url));
    mk_request_reason(x->r, why);
}

static void on_exchange_connected(void *arg, bool fresh, int error)
{
    struct proxy_exchange *x = arg;

    if (error == 0) {
        x->is_fresh = fresh;
        backend_notes_connect(&x->notes, x->r, x->attempt.name, proxy_link_stream(&x->link));
        proxy_exchange_turn(x, PROXY_SEND);
        proxy_link_tell(&x->link, on_backend, x);
        if (hold(x) < 0) {
            proxy_exchange_give_up(x, PROXY_LEFT);
            proxy_exchange_fail(x, 503, "no memory");
        }
        return;
    }
    switch (error) {
    case MK_E_BUSY:
        x->status = 503;
        end_attempt(x, PROXY_FULL);
        break;
    case MK_E_NOMEM:
    case MK_E_NOFD:
        x->status = 503;
        end_attempt(x, PROXY_LEFT);
        break;
    default:
        x->status = error == MK_E_TIMEOUT ? 504 : 502;
        log_no_connection(x, error);
        end_attempt(x, PROXY_REFUSED);
    }
    try_next(x);
}

/* @return whether something is under way. */
static bool take_connection(struct proxy_exchange *x, bool fresh)
{
    const struct proxy_call_way way = {
        .upstream = x->attempt.upstream,
        .is_secure = x->set->is_secure,
        .max_waiting = x->set->max_connections > 0 ? (unsigned)x->set->queue : UINT_MAX,
        .idle_ms = (unsigned)x->set->idle_ms,
    };
    int err;

    proxy_exchange_turn(x, PROXY_CONNECT);
    err = proxy_link_take(&x->link, x->set->is_h2 ? x->home->calls : NULL, x->worker, &way, fresh,
                          on_exchange_connected, x);
    proxy_upload_rewind(x);
    if (err == 0)
        return true;
    x->status = 503;
    end_attempt(x, err == MK_E_BUSY ? PROXY_FULL : PROXY_LEFT);
    return false;
}

/* Connections with a PROXY header are of one client each. */
static bool must_be_fresh(const struct proxy_exchange *x)
{
    return x->set->protocol != PROXY_PROTOCOL_OFF;
}

/* @return whether something is under way. */
static bool begin_attempt(struct proxy_exchange *x)
{
    x->report = (struct proxy_report){.outcome = PROXY_LEFT};
    x->began_us = clock_now_us();
    backend_notes_begin(&x->notes, x->r, x->attempt.name);
    return take_connection(x, must_be_fresh(x));
}

/* Bounded: no backend is tried twice. */
static void try_next(struct proxy_exchange *x)
{
    while (proxy_begin(x->entry, &x->ask, &x->attempt)) {
        if (begin_attempt(x))
            return;
    }
    if (proxy_all_drained(x->entry)) {
        proxy_exchange_fail(x, 503, "all backends are drained");
        return;
    }
    proxy_exchange_fail(x, x->status,
                        x->status == 503   ? "all backends are busy"
                        : x->status == 504 ? "no backend accepted a connection in time"
                        : x->tries > 0     ? "no other backend is available"
                                           : "no backend is available");
}

/* What does a connection that ended before an answer say of the backend? */
static enum proxy_outcome outcome_of_end(const struct proxy_exchange *x, bool is_stale)
{
    if (is_stale && x->state != PROXY_HEAD)
        return PROXY_STALE;
    return x->intake.owes ? PROXY_LEFT /* not all is here: perhaps it gave up on the client */
                          : PROXY_BROKE;
}

void proxy_exchange_refuse(struct proxy_exchange *x, const char *why)
{
    char url[TARGET_TEXT];

    mk_request_log(x->r, MK_LOG_WARN,
                   "proxy answer refused entry=%s backend=%s why=\"%s\" url=\"%s\"", x->entry->name,
                   x->attempt.name, why, target_text(x->r, url));
    proxy_exchange_give_up(x, PROXY_UNFIT);
    proxy_exchange_fail(x, 502, why);
}

/* All of the body that was read can be sent again. */
static bool keeps_body(const struct proxy_exchange *x)
{
    return x->is_kept || intake_can_rewind(&x->intake);
}

/* A backend that took no notice of a request may get it again (RFC 9113 section 8.7), but not for ever. */
static bool repeats_refused(struct proxy_exchange *x)
{
    if (!proxy_link_was_refused(&x->link) || x->refusals == REFUSALS_MAX || !keeps_body(x))
        return false;
    x->refusals++;
    give_connection(x, false);
    return take_connection(x, false);
}

/* An idle connection that was closed is no fault of its backend's, and another one may do. What comes of a stream alone is
 * said of this request: it would be said over another connection too. */
static bool was_idle(const struct proxy_exchange *x)
{
    return !x->is_fresh && proxy_link_is_lost(&x->link) && !proxy_link_was_refused(&x->link);
}

void proxy_exchange_retry(struct proxy_exchange *x, const char *why)
{
    const bool is_stale = was_idle(x);
    const struct backend_loss loss = {
        .was_heard = x->state == PROXY_HEAD,
        .has_left = proxy_has_left(x) && !proxy_link_was_refused(&x->link),
        .is_idempotent = x->is_idempotent,
        .keeps_body = keeps_body(x),
        .is_fresh = !is_stale,
        .is_last = x->tries + 1 >= x->set->attempts,
    };
    const char *rule;
    enum backend_repeat verdict = backend_repeat(&loss, &rule);

    mk_request_log(x->r, MK_LOG_TRACE, "proxy repeat rule=\"%s\"", rule);
    x->status = 502;
    if (repeats_refused(x))
        return;
    if (verdict == BACKEND_REPEAT_SAME) {
        give_connection(x, false);
        if (!take_connection(x, true))
            try_next(x);
        return;
    }
    mk_request_log(x->r, MK_LOG_WARN, "proxy backend failed entry=%s backend=%s why=\"%s\"",
                   x->entry->name, x->attempt.name, why);
    mk_request_reason(x->r, why); /* others may not be there to try */
    proxy_exchange_give_up(x, outcome_of_end(x, is_stale));
    x->tries++;
    if (verdict == BACKEND_REPEAT_OTHER)
        try_next(x);
    else
        proxy_exchange_fail(x, 502, why);
}

/* ---- answers that another backend may better ---- */

/* An answer is better than none: those that are offline are not asked for it. */
static bool find_another(struct proxy_exchange *x, struct proxy_attempt *next)
{
    bool found;

    x->ask.has_answer = true;
    found = proxy_begin(x->entry, &x->ask, next);
    x->ask.has_answer = false;
    return found;
}

bool proxy_exchange_ask_another(struct proxy_exchange *x)
{
    struct proxy_attempt next;

    if (!x->is_idempotent || x->has_told || !keeps_body(x) || x->tries + 1 >= x->set->attempts ||
        !find_another(x, &next))
        return false;
    mk_request_log(x->r, MK_LOG_WARN, "proxy answer not passed on entry=%s backend=%s status=%u",
                   x->entry->name, x->attempt.name, x->answer.status);
    x->report.status = x->answer.status;
    x->report.head_us = proxy_spent_us(x->began_us);
    x->report.is_repeated = true;
    proxy_exchange_give_up(x, PROXY_ANSWERED);
    x->tries++;
    x->status = 502;
    x->attempt = next;
    if (!begin_attempt(x))
        try_next(x);
    return true;
}

/* ---- the request ---- */

/* h2c would be a way past everything that is looked at here. In HTTP/2, CONNECT takes the place of GET (RFC 8441 section 4). */
static bool may_upgrade(const struct mk_request *r, const struct mk_request_facts *f, bool is_h2)
{
    struct mk_str protocol = mk_request_header(r, MK_STR("Upgrade"));
    bool is_get = f->method.len == 3 && memcmp(f->method.p, "GET", 3) == 0;

    return protocol.len > 0 && (is_get || !is_h2) && f->minor == 1 && f->content_length == 0 &&
           !proxy_has_token(protocol, MK_STR("h2c")) &&
           proxy_connection_has(proxy_next_field, r, MK_STR("upgrade"));
}

/* TE is of the client's connection, which it has to say (RFC 9110 section 10.1.4). */
static bool takes_trailers(const struct mk_request *r, const struct mk_request_facts *f)
{
    struct mk_str te = mk_request_header(r, MK_STR("TE"));

    return te.len > 0 && f->minor == 1 && proxy_has_token(te, MK_STR("trailers")) &&
           proxy_connection_has(proxy_next_field, r, MK_STR("TE"));
}

static int64_t hops_of(const struct mk_request *r, const struct mk_request_facts *f)
{
    return proxy_counts_hops(f->method) ? proxy_hops(mk_request_header(r, MK_STR("Max-Forwards")))
                                        : -1;
}

static struct proxy_exchange *begin_exchange(struct mk_request *r, const struct mk_context *ctx,
                                             struct proxy_entry *entry,
                                             const struct mk_request_facts *f)
{
    struct proxy_exchange *x = mk_request_alloc(r, sizeof(*x));

    if (!x)
        return NULL;
    *x = (struct proxy_exchange){
        .r = r,
        .worker = ctx->worker,
        .home = ctx->local,
        .entry = entry,
        .set = entry->set,
        .ask = {.r = r, .worker = ctx->worker},
        .length = f->content_length,
        .hops = hops_of(r, f),
        .status = 502,
        .is_traced = mk_request_logs(r, MK_LOG_TRACE),
        .is_idempotent = backend_is_idempotent(f->method),
        .is_head = f->method.len == 4 && memcmp(f->method.p, "HEAD", 4) == 0,
        .is_kept = true,
        .reading = f->content_length == 0 ? PROXY_READ : PROXY_OPEN,
        .wants_upgrade = may_upgrade(r, f, entry->set->is_h2),
        .wants_trailers = takes_trailers(r, f),
    };
    intake_init(&x->intake, r, f, (enum intake_mode)entry->set->buffering, false);
    x->expects = entry->set->buffering == INTAKE_OFF && f->minor == 1 && f->content_length != 0 &&
                 proxy_has_token(mk_request_header(r, MK_STR("Expect")), MK_STR("100-continue"));
    if (mk_request_on_end(r, on_exchange_end, x) < 0 || mk_request_keep(r, &key, x) < 0)
        return NULL;
    return x;
}

/* Many applications read no chunks; trailers that are announced need them (RFC 9112 section 7.1.2). */
static bool needs_chunks(const struct proxy_exchange *x)
{
    return x->set->is_h2 || mk_request_header(x->r, MK_STR("Trailer")).len > 0;
}

/* A body that was gathered whole has a length. */
static void know_length(struct proxy_exchange *x)
{
    if (x->set->buffering == INTAKE_ON && x->length < 0 && !needs_chunks(x))
        x->length = x->intake.length;
}

/* Backends are asked when the body is here, or comes fast. */
static enum mk_verdict gather_body(struct proxy_exchange *x)
{
    enum mk_verdict verdict = intake_gather(&x->intake, x->r, x->set->spool_dir);

    if (verdict == MK_VERDICT_PASS) {
        know_length(x);
        try_next(x);
        return x->state == PROXY_OVER ? MK_VERDICT_DONE : MK_VERDICT_LATER;
    }
    if (verdict != MK_VERDICT_LATER)
        proxy_exchange_turn(x, PROXY_OVER);
    return verdict;
}

enum mk_verdict proxy_exchange_handle(struct mk_request *r, const struct mk_context *ctx,
                                      struct proxy_entry *entry)
{
    struct proxy_exchange *x = mk_request_kept(r, &key);
    struct mk_request_facts f = {.size = sizeof(f)};

    if (!x) {
        mk_request_facts(r, &f);
        if (hops_of(r, &f) == 0)
            return MK_VERDICT_PASS; /* its way ends here: the site answers (RFC 9110 section 7.6.2) */
        x = begin_exchange(r, ctx, entry, &f);
        if (!x)
            return mk_reply_error(r, 503, NULL);
        mk_request_ends_on_hangup(r, true);
        mk_request_timeout(r, 0); /* the streams know better */
    }
    if (x->state == PROXY_GATHER)
        return gather_body(x);
    if (x->state == PROXY_SEND || x->state == PROXY_HEAD)
        step_request(x); /* more of the body came */
    if (x->file.p)
        return mk_reply_beneath(r, mk_str_from(x->set->sendfile_root), x->file);
    if (x->is_moved)
        return MK_VERDICT_LATER;
    return x->state >= PROXY_BODY ? MK_VERDICT_DONE : MK_VERDICT_LATER;
}
