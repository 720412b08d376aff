/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/back.h"
#include "exchange/exchange.h"
#include "exchange/front.h"
#include "exchange/head.h"

#include "kit/target/target.h"
#include "kit/text/words.h"

#include <stdio.h>

enum {
    INTERIM_MAX = 16, /* answers before the answer */
    STALL_MS = 1000,  /* a client that takes nothing for so long is why the backend gave up */
};

/* Requests hold a large buffer for MaxMemory; those of the usual size are the worker's. */
static void hold_down(struct proxy_exchange *x)
{
    bool is_large = x->down && x->down->size > PROXY_BUFFER;

    intake_hold(&x->intake, x->r, is_large ? x->down->size : 0);
}

static void drop_down(struct proxy_exchange *x)
{
    bool is_large = x->down && x->down->size > PROXY_BUFFER;

    proxy_buffer_put(&x->home->buffers, x->down);
    x->down = NULL;
    if (is_large)
        hold_down(x);
}

static size_t received(const struct proxy_exchange *x)
{
    return x->down ? x->down->end - x->down->at : 0;
}

/* ---- the body ---- */

/* @return as mk_produce_fn. */
static ssize_t cut_answer(struct proxy_exchange *x, enum proxy_outcome outcome, const char *why)
{
    char url[TARGET_TEXT];

    mk_request_log(x->r, MK_LOG_WARN,
                   "proxy answer cut off entry=%s backend=%s why=\"%s\" url=\"%s\"", x->entry->name,
                   x->attempt.name, why, target_text(x->r, url));
    proxy_exchange_give_up(x, outcome);
    proxy_exchange_turn(x, PROXY_OVER);
    return MK_E_BAD;
}

/* The client did it: the backend has answered. */
static ssize_t cut_upload(struct proxy_exchange *x)
{
    return cut_answer(x, PROXY_ANSWERED, "the client's body is incomplete");
}

/* Did the backend wait for the client, to take what was sent or to send the rest? */
static bool waited_for_client(const struct proxy_exchange *x)
{
    return x->intake.owes ||
           (x->passed_ms > 0 && mk_worker_now_ms(x->worker) - x->passed_ms >= STALL_MS);
}

void proxy_answer_closed(struct proxy_exchange *x)
{
    x->ended_late = x->ended_late || waited_for_client(x);
}

static ssize_t break_off(struct proxy_exchange *x, const char *why)
{
    proxy_answer_closed(x);
    return cut_answer(x, x->ended_late ? PROXY_ANSWERED : PROXY_BROKE, why);
}

/* The rest of the request while the answer is on its way. What the client does wrong ends both. */
static int send_rest(struct proxy_exchange *x)
{
    int err;

    if (proxy_has_sent(x))
        return 0;
    err = proxy_upload_send(x);
    return err == MK_E_AGAIN || err == MK_E_PEER ? 0 : err;
}

/* What came with the head. */
static size_t give_received(struct proxy_exchange *x, char *dst, size_t len)
{
    size_t n = received(x) < len ? received(x) : len;

    memcpy(dst, x->down->bytes + x->down->at, n);
    x->down->at += n;
    if (received(x) == 0)
        drop_down(x);
    return n;
}

/* @return bytes of the body at the front of buf, perhaps 0; an error. */
static ssize_t decode(struct proxy_exchange *x, char *buf, size_t got)
{
    size_t n = got, used, before = x->body.trailers, trailers;
    int done = mk_body_decode(&x->body, buf, &n, &used);

    if (done == MK_E_LIMIT)
        return cut_answer(x, PROXY_ANSWERED, "the framing of the answer is too large");
    if (done < 0 && done != MK_E_AGAIN)
        return break_off(x, "the body of the answer is malformed");
    trailers = x->body.trailers - before; /* the last of the bytes used, where they came */
    if (trailers > 0 && x->wants_trailers)
        proxy_trailers_take(x, buf + used - trailers, trailers);
    x->report.received += n;
    if (done == 1) {
        if (used < got && x->answer.keep_alive)
            mk_upstream_distrust(x->attempt.upstream);
        proxy_trailers_pass(x);
        proxy_exchange_finish(x, used == got);
    }
    return (ssize_t)n;
}

/* @return as mk_produce_fn. */
static ssize_t end_of_input(struct proxy_exchange *x)
{
    if (mk_body_end(&x->body) < 0)
        return break_off(x, "the backend closed the connection too early");
    if (!proxy_link_is_framed(&x->link))
        proxy_trailers_of_call(x);
    proxy_exchange_finish(x, false);
    return 0;
}

static ssize_t await_backend(struct proxy_exchange *x)
{
    x->passed_ms = 0;
    proxy_exchange_time(x, x->set->read_ms);
    return MK_E_AGAIN;
}

static ssize_t read_answer_body(struct proxy_exchange *x, char *dst, size_t len)
{
    ssize_t n = 0;

    while (n == 0 && x->state == PROXY_BODY) {
        ssize_t got = proxy_link_read(&x->link, dst, len);

        if (got == MK_E_AGAIN)
            return await_backend(x);
        proxy_exchange_time(x, 0);
        if (got < 0)
            return break_off(x, "the connection to the backend broke");
        if (got == 0)
            return end_of_input(x);
        x->passed_ms = mk_worker_now_ms(x->worker);
        n = decode(x, dst, (size_t)got);
    }
    return n;
}

/* Asked whenever the client can take more. */
static ssize_t produce_answer(struct mk_request *r, void *arg, char *dst, size_t len)
{
    struct proxy_exchange *x = arg;

    (void)r;
    if (x->state == PROXY_OVER)
        return MK_E_BAD;
    if (x->state == PROXY_BODY && send_rest(x) < 0)
        return cut_upload(x);
    if (x->down && !x->has_pipe)
        return (ssize_t)give_received(x, dst, len);
    return read_answer_body(x, dst, len);
}

/* ---- a large body, past our memory ---- */

/* What is left of a body of known length that nothing has to be taken out of. */
static uint64_t left_of_body(const struct proxy_exchange *x)
{
    return (uint64_t)x->answer.content_length - x->report.received;
}

static bool is_for_pipe(const struct proxy_exchange *x)
{
    return !x->is_head && !x->answer.chunked && x->answer.content_length > 0 &&
           left_of_body(x) >= PROXY_SPLICE_MIN && proxy_link_fd(&x->link) >= 0;
}

/* @return as mk_fill_fn. */
static ssize_t fill_pipe(struct proxy_exchange *x)
{
    int fd = proxy_link_fd(&x->link);
    ssize_t n = fd < 0 ? MK_E_UNSUPPORTED : proxy_pipe_fill(&x->pipe, fd, left_of_body(x));

    if (n == MK_E_AGAIN)
        return await_backend(x);
    proxy_exchange_time(x, 0);
    if (n == 0)
        return break_off(x, "the backend closed the connection too early");
    if (n < 0)
        return n == MK_E_UNSUPPORTED ? n : break_off(x, "the connection to the backend broke");
    x->passed_ms = mk_worker_now_ms(x->worker);
    x->body.left -= (uint64_t)n;
    x->body.total += (uint64_t)n;
    x->report.received += (uint64_t)n;
    if (left_of_body(x) == 0)
        proxy_exchange_finish(x, true);
    return n;
}

/* Asked in place of produce_answer whenever the client can take more. */
static ssize_t fill_answer(struct mk_request *r, void *arg, size_t taken, int *fd)
{
    struct proxy_exchange *x = arg;

    (void)r;
    if (!x->has_pipe)
        return MK_E_UNSUPPORTED;
    *fd = x->pipe.out;
    x->pipe.bytes -= taken;
    if (x->pipe.bytes > 0)
        return (ssize_t)x->pipe.bytes;
    if (x->state == PROXY_OVER)
        return MK_E_BAD;
    if (x->state == PROXY_REST)
        return 0;
    if (send_rest(x) < 0)
        return cut_upload(x);
    return fill_pipe(x);
}

/* ---- the head ---- */

static bool next_field(const void *of, uint32_t *at, struct mk_str *name, struct mk_str *value)
{
    const struct proxy_exchange *x = of;

    return mk_response_next(&x->answer, x->down->bytes + x->down->at, at, name, value);
}

/* Is it what the parser saw to? */
static bool is_usual(struct mk_str value)
{
    return (value.len == 5 && proxy_has_token(value, MK_STR("close"))) ||
           (value.len == 10 && proxy_has_token(value, MK_STR("keep-alive")));
}

/* Most answers say nothing in Connection, or the usual. @return bytes of its lines, 0 where none names a field. */
static size_t look_for_names(const struct proxy_exchange *x)
{
    struct mk_str name, value;
    size_t len = 0;
    bool names = false;
    uint32_t at = 0;

    while (next_field(x, &at, &name, &value)) {
        if (name.len != 10 || !proxy_has_token(name, MK_STR("Connection")))
            continue;
        len += value.len;
        names = names || !is_usual(value);
    }
    return names ? len : 0;
}

static bool is_upgrade(const struct proxy_exchange *x, struct mk_str name)
{
    return (x->answer.status == 101 || x->answer.status == 426) &&
           proxy_has_token(name, MK_STR("Upgrade"));
}

/* Fields behind the body can be announced where they will be passed on. */
static bool announces(const struct proxy_exchange *x, struct mk_str name, struct mk_str value)
{
    return x->wants_trailers && x->answer.chunked && proxy_has_token(name, MK_STR("Trailer")) &&
           proxy_may_announce(value);
}

/* ---- the way back of Rewrite ---- */

static struct proxy_back way_back(const struct proxy_exchange *x)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};

    mk_request_facts(x->r, &facts);
    return (struct proxy_back){
        .from = x->set->rewrite_from,
        .to = x->set->rewrite_to,
        .authority = x->attempt.authority,
        .told = x->set->host == PROXY_HOST_TEXT ? x->set->host_text : (struct mk_str){NULL, 0},
        .host = facts.host,
    };
}

/* As it came, where it has no path of the backend, and without memory. */
struct mk_str proxy_answer_value(const struct proxy_exchange *x, struct mk_str name,
                                 struct mk_str value)
{
    struct proxy_back back;
    size_t len;
    char *text;

    if (!x->set->rewrite_from.p || !x->set->rewrites_answers || !proxy_back_knows(name))
        return value;
    back = way_back(x);
    text = mk_request_alloc(x->r, proxy_back_room(&back, value));
    len = text ? proxy_back_value(&back, name, value, text) : 0;
    return len > 0 ? (struct mk_str){text, len} : value;
}

/* For as long as the browser runs, and not for scripts or other sites (RFC 6265 section 4.1.2). */
struct mk_str proxy_answer_cookie(const struct proxy_exchange *x, char text[PROXY_COOKIE_ROOM])
{
    const struct mk_str name = x->set->sticky, value = proxy_attempt_cookie(&x->attempt);
    struct mk_request_facts f = {.size = MK_REQUEST_ASKED};
    int len;

    mk_request_facts(x->r, &f);
    len = snprintf(text, PROXY_COOKIE_ROOM, "%.*s=%.*s; Path=/; HttpOnly; SameSite=Lax%s",
                   (int)name.len, name.p, (int)value.len, value.p,
                   strcmp(f.scheme, "https") == 0 ? "; Secure" : "");
    return (struct mk_str){text, (size_t)len};
}

void proxy_answer_fields(struct proxy_exchange *x, struct mk_reply *p)
{
    struct mk_str name, value;
    char cookie[PROXY_COOKIE_ROOM];
    uint32_t at = 0;

    while (next_field(x, &at, &name, &value)) {
        bool stays = proxy_is_hop_by_hop(name) || text_is_front_order(name) ||
                     (x->names_fields && proxy_connection_has(next_field, x, name));

        if (!stays || is_upgrade(x, name) || (!x->names_fields && announces(x, name, value)))
            mk_reply_line(p, name, proxy_answer_value(x, name, value));
    }
    if (x->attempt.sets_cookie && (x->answer.status >= 200 || x->answer.status == 101))
        mk_reply_line(p, MK_STR("Set-Cookie"), proxy_answer_cookie(x, cookie));
}

/* What came behind the head, without framing. @return whether the answer goes on. */
static bool begin_body(struct proxy_exchange *x, size_t head_len)
{
    struct mk_str rest;
    ssize_t n;

    mk_body_init(&x->body, &x->answer, x->is_head);
    x->down->at += head_len;
    n = decode(x, x->down->bytes + x->down->at, received(x));
    if (n < 0) {
        mk_reply_abort(x->r);
        return false;
    }
    x->down->end = x->down->at + (size_t)n;
    if (proxy_buffer_shrink(&x->home->buffers, &x->down))
        hold_down(x);
    rest = (struct mk_str){x->down->bytes + x->down->at, (size_t)n};
    if (x->state == PROXY_REST)
        return mk_reply_memory(x->r, rest) == 0;
    if (n == 0)
        drop_down(x);
    x->has_pipe = is_for_pipe(x) && proxy_pipe_get(&x->home->pipes, &x->pipe) == 0;
    if (!x->has_pipe)
        return mk_reply_producer(x->r, produce_answer, x) == 0;
    return mk_reply_memory(x->r, rest) == 0 &&
           mk_reply_piped_producer(x->r, produce_answer, fill_answer, x) == 0;
}

static void pass_on(struct proxy_exchange *x, size_t head_len)
{
    struct mk_reply p;
    int err;

    x->report.status = x->answer.status;
    x->report.head_us = proxy_spent_us(x->began_us);
    proxy_exchange_time(x, 0);
    if (mk_reply_begin(&p, x->r, x->answer.status) < 0)
        return; /* the client's connection is broken, which ends the request */
    proxy_answer_fields(x, &p);
    if (x->names_fields) /* which are not known any more when the trailers come */
        x->wants_trailers = false;
    err = mk_reply_end(&p, x->answer.content_length);
    if (err == MK_E_PEER)
        return;
    if (err < 0) {
        proxy_exchange_refuse(x, "the head of the answer is too large");
        return;
    }
    proxy_exchange_turn(x, PROXY_BODY);
    mk_request_reason(x->r, NULL); /* other servers may have been tried before */
    x->passed_ms = mk_worker_now_ms(x->worker);
    proxy_answers(&x->attempt, x->answer.status);
    if (x->sending == PROXY_WHOLE) {
        proxy_buffer_put(&x->home->buffers, x->up);
        x->up = NULL;
    }
    if (begin_body(x, head_len))
        mk_request_resume(x->r);
}

/* ---- answers before the answer ---- */

static void pass_interim(struct proxy_exchange *x)
{
    struct mk_reply p;

    if (x->answer.status == 100) { /* the client gets ours when its body is read */
        if (x->reading == PROXY_HELD)
            proxy_reading_turn(x, PROXY_OPEN);
        proxy_link_run_soon(&x->link);
        return;
    }
    if (mk_reply_begin(&p, x->r, x->answer.status) < 0)
        return;
    x->has_told = true;
    proxy_answer_fields(x, &p);
    (void)!mk_reply_end(&p, -1);
}

static void drop_head(struct proxy_exchange *x, size_t len)
{
    x->down->at += len;
    memmove(x->down->bytes, x->down->bytes + x->down->at, received(x));
    x->down->end -= x->down->at;
    x->down->at = 0;
    x->answer = (struct mk_response_head){.line = 0};
}

/* ---- reading ---- */

static void fail_answer(struct proxy_exchange *x, const char *why)
{
    drop_down(x);
    proxy_exchange_retry(x, why);
}

static void refuse_answer(struct proxy_exchange *x, const char *why)
{
    drop_down(x);
    proxy_exchange_refuse(x, why);
}

/* What begins with no status line is no answer: something else listens there. */
static void fail_head(struct proxy_exchange *x, ssize_t err)
{
    if (err == MK_E_LIMIT && mk_response_is_too_long(&x->answer))
        refuse_answer(x, "the head is larger than MaxAnswerHead");
    else if (err == MK_E_LIMIT || x->answer.fields_off > 0)
        refuse_answer(x, x->answer.why);
    else
        fail_answer(x, x->answer.why);
}

/* Few heads need more than the usual. @return whether there is a buffer with room. */
static bool has_room(struct proxy_exchange *x)
{
    if (!x->down)
        return (x->down = proxy_buffer_get(&x->home->buffers, PROXY_BUFFER)) != NULL;
    if (x->down->end < x->down->size)
        return true;
    if (proxy_buffer_grow(&x->home->buffers, &x->down, (size_t)x->set->max_answer_head) < 0)
        return false;
    hold_down(x);
    return true;
}

/* @return > 0: bytes; 0: none, for now or for ever, and that was seen to. */
static ssize_t read_answer(struct proxy_exchange *x)
{
    ssize_t n;

    if (!has_room(x)) {
        drop_down(x);
        proxy_exchange_give_up(x, PROXY_LEFT);
        proxy_exchange_fail(x, 503, "no memory");
        return 0;
    }
    n = proxy_link_read(&x->link, x->down->bytes + x->down->end, x->down->size - x->down->end);
    if (n > 0) {
        if (x->state == PROXY_SEND) {
            proxy_exchange_turn(x, PROXY_HEAD);
            backend_notes_time(&x->notes, BACKEND_NOTE_FIRST);
        }
        x->down->end += (size_t)n;
        return n;
    }
    if (n == MK_E_AGAIN && received(x) == 0)
        drop_down(x);
    if (n != MK_E_AGAIN)
        fail_answer(x, n == 0 ? "the backend closed the connection"
                              : "the connection to the backend broke");
    return 0;
}

/* Did the client ask for the protocol that the backend agrees to (RFC 9110 section 7.8)? */
static bool was_asked_for(const struct proxy_exchange *x)
{
    return x->wants_upgrade && x->answer.upgrade &&
           proxy_has_all(
               mk_request_header(x->r, MK_STR("Upgrade")),
               mk_response_find(&x->answer, x->down->bytes + x->down->at, MK_STR("Upgrade")));
}

/* RetryOn. @return whether another backend is asked, which answers anew. */
static bool asks_another(struct proxy_exchange *x)
{
    if (!proxy_retries_on(x->set->retry_on, x->answer.status) || !proxy_exchange_ask_another(x))
        return false;
    drop_down(x);
    x->answer = (struct mk_response_head){.line = 0};
    return true;
}

/* What of the body came with the head. More is not waited for. @return whether that was all of it. */
static bool discard_body(struct proxy_exchange *x, size_t head_len)
{
    size_t n, used, got;

    x->down->at += head_len;
    got = n = received(x);
    mk_body_init(&x->body, &x->answer, x->is_head);
    return mk_body_decode(&x->body, x->down->bytes + x->down->at, &n, &used) == 1 && used == got;
}

/* AccelRedirect, SendfileRoot. @return whether something else is sent in the place of the answer, or it is refused. */
static bool obeys(struct proxy_exchange *x, size_t head_len)
{
    struct proxy_front_order order;
    const char *why;
    bool is_whole;

    if (!proxy_takes_orders(x->set) || !proxy_front_find(x, &order))
        return false;
    x->report.status = x->answer.status;
    x->report.head_us = proxy_spent_us(x->began_us);
    why = proxy_front_obey(x, &order);
    if (why) {
        refuse_answer(x, why);
        return true;
    }
    proxy_answers(&x->attempt, x->answer.status);
    is_whole = discard_body(x, head_len);
    drop_down(x);
    proxy_exchange_turn(x, PROXY_BODY);
    proxy_exchange_finish(x, is_whole);
    proxy_exchange_turn(x, PROXY_OVER);
    mk_request_resume(x->r);
    return true;
}

/* @return whether to look for another head. */
static bool judge_head(struct proxy_exchange *x, size_t len)
{
    size_t names = look_for_names(x);

    if (names > PROXY_CONNECTION_MAX) {
        refuse_answer(x, "Connection names too many fields");
        return false;
    }
    x->names_fields = names > 0;
    if (x->answer.status >= 200) {
        if (!asks_another(x) && !obeys(x, len))
            pass_on(x, len);
        return false;
    }
    if (x->answer.status == 101) {
        if (was_asked_for(x))
            proxy_tunnel_begin(x, len);
        else
            refuse_answer(x, "the backend changed the protocol unasked");
        return false;
    }
    if (++x->ninterim > INTERIM_MAX) {
        refuse_answer(x, "too many interim answers");
        return false;
    }
    pass_interim(x);
    drop_head(x, len);
    return true;
}

void proxy_answer_read(struct proxy_exchange *x)
{
    ssize_t n = MK_E_AGAIN;

    while (n == MK_E_AGAIN) {
        if (received(x) > 0) {
            x->answer.lenient = x->set->is_lenient;
            n = mk_response_parse(&x->answer, MK_RESPONSE_HTTP, x->down->bytes, received(x),
                                  (size_t)x->set->max_answer_head);
            if (n > 0) {
                if (!judge_head(x, (size_t)n))
                    return;
                n = MK_E_AGAIN;
                continue;
            }
            if (n != MK_E_AGAIN) {
                fail_head(x, n);
                return;
            }
        }
        if (read_answer(x) == 0)
            return;
    }
}
