/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/client/http_call.h"

#include <monkey/events.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The life of a call: a connection, its events, another one where it must be, and the end. */

static const struct states_row rows[] = {
#define ROW(name, text, next, meaning) {text, next},
    HTTP_CALL_STATES(ROW)
#undef ROW
};
static const struct states table = {"http call", sizeof(rows) / sizeof(rows[0]), rows};

void http_call_turn(struct http_call *c, enum http_call_state to)
{
    states_turn(&table, &c->state, to, NULL, NULL);
}

int http_call_fail(struct http_call *c, int error, const char *why)
{
    (void)snprintf(c->why, sizeof(c->why), "%s", why ? why : "");
    return error;
}

/* ---- the end ---- */

/* @param reusable  the connection is in step */
static void release(struct http_call *c, bool reusable)
{
    if (c->wait)
        mk_upstream_cancel(c->wait);
    c->wait = NULL;
    if (c->s) {
        mk_stream_timeout(c->s, 0);
        mk_upstream_give(c->server->upstream, c->s, reusable);
    }
    c->s = NULL;
    http_sending_fini(&c->out);
}

void http_call_free(struct http_call *c)
{
    mk_alarm_free(c->alarm);
    http_request_fini(&c->q);
    http_sending_fini(&c->out);
    http_receiving_fini(&c->in);
    free(c);
}

/* Nothing of it is found any more. */
static void leave(struct http_call *c)
{
    http_call_turn(c, HTTP_CALL_OVER);
    http_home_forget(c->home, c);
    if (c->link) {
        *c->link = c->next;
        if (c->next)
            c->next->link = c->link;
    }
    c->link = NULL;
    http_servers_put(c->server);
    c->server = NULL;
}

static void end(struct http_call *c)
{
    struct mk_duda_here before = mk_duda_enter(c->seat->service, c->seat->worker);

    if (c->o.end)
        c->o.end(c->arg);
    mk_duda_leave(before);
    http_call_free(c);
}

void http_call_drop(struct http_call *c)
{
    release(c, false);
    mk_alarm_cancel(c->alarm);
    leave(c);
    if (!c->is_inside)
        end(c);
}

static void finish(struct http_call *c, int error)
{
    struct mk_duda_visit *v = c->visit;
    struct mk_duda_here before;

    release(c, error == DUDA_HTTP_OK && c->in.is_reusable);
    mk_alarm_cancel(c->alarm);
    c->answer.error = error;
    c->answer.url = c->q.url;
    if (error == DUDA_HTTP_OK && c->in.gathered) {
        c->answer.body = c->in.gathered;
        c->answer.length = c->in.gathered_len;
    }
    leave(c);
    before = http_visit_enter(v, c->seat);
    c->done(http_call_dr(c), &c->answer, c->arg);
    http_visit_leave(v, before);
    end(c);
}

/* ---- a connection ---- */

static void on_event(struct mk_stream *s, unsigned events, void *arg);

static int error_of(int error)
{
    switch (error) {
    case MK_E_NOENT:
    case MK_E_AGAIN:
        return DUDA_HTTP_NO_NAME;
    case MK_E_TIMEOUT:
        return DUDA_HTTP_TIMEOUT;
    case MK_E_UNSUPPORTED:
        return DUDA_HTTP_NO_TLS;
    case MK_E_NOMEM:
    case MK_E_NOFD:
    case MK_E_BUSY:
        return DUDA_HTTP_NO_ROOM;
    default:
        return DUDA_HTTP_REFUSED;
    }
}

static const char *why_of(int error)
{
    if (error == MK_E_UNSUPPORTED)
        return "https needs the plugin tls or mbedtls";
    return error == MK_E_BUSY ? "too many servers are in use" : mk_error_text(error);
}

static void on_connection(void *arg, struct mk_stream *s, bool fresh, int error)
{
    struct http_call *c = arg;

    c->wait = NULL;
    if (!s) {
        mk_upstream_why(c->server->upstream, c->seat->worker->worker, error, c->why,
                        sizeof(c->why));
        finish(c, error_of(error));
        return;
    }
    c->s = s;
    c->is_fresh = fresh;
    c->was_looked_at = false;
    http_call_turn(c, HTTP_CALL_HEAD);
    mk_stream_tell(s, on_event, c);
    mk_stream_timeout(s, c->o.silence_ms);
}

static int take(struct http_call *c, bool fresh)
{
    http_call_turn(c, HTTP_CALL_TAKE);
    return mk_upstream_take(c->server->upstream, c->seat->worker->worker, fresh, on_connection, c,
                            &c->wait);
}

/* The kept connection was closed: once more, by a new one. */
static void retake(struct http_call *c)
{
    int err;

    release(c, false);
    http_receiving_fini(&c->in);
    err = take(c, true);
    if (err < 0)
        finish(c, http_call_fail(c, DUDA_HTTP_NO_ROOM, mk_error_text(err)));
}

static int find_server(struct http_call *c)
{
    return http_servers_get(http_home_servers(c->home), c->seat->worker->worker,
                            c->seat->service->tls, &c->q.to, &c->server);
}

/* ---- redirects ---- */

static int follow(struct http_call *c)
{
    const unsigned status = c->in.head.status;
    const struct mk_str location = mk_response_find(&c->in.head, c->in.in, MK_STR("Location"));
    const bool has_asked = c->out.has_asked;
    int err = http_request_redirect(&c->q, status, location);

    if (err == 0 && c->q.has_body && has_asked)
        return http_call_fail(c, DUDA_HTTP_REDIRECTS, "the body cannot be sent again");
    if (err == MK_E_NOMEM)
        return http_call_fail(c, DUDA_HTTP_NO_ROOM, mk_error_text(err));
    if (err < 0)
        return http_call_fail(c, DUDA_HTTP_REDIRECTS,
                              err == MK_E_LIMIT ? "too many redirects"
                                                : "a redirect to what cannot be asked");
    release(c, false);
    http_receiving_fini(&c->in);
    http_servers_put(c->server);
    err = find_server(c);
    if (err < 0)
        c->server = NULL;
    else
        err = take(c, false);
    return err < 0 ? http_call_fail(c, error_of(err), why_of(err)) : HTTP_WAITS;
}

/* ---- its events ---- */

static int step(struct http_call *c)
{
    int sent, received;

    if (!c->was_looked_at) {
        c->was_looked_at = true;
        if (!c->is_fresh && !mk_upstream_is_quiet(c->server->upstream, c->s))
            return HTTP_RETAKE;
    }
    sent = http_call_send(c);
    if (sent != HTTP_WAITS && sent != HTTP_AGAIN)
        return sent;
    received = http_call_receive(c);
    return received == HTTP_WAITS ? sent : received;
}

/* The server's silence counts only while it is waited for. */
static void await(struct http_call *c)
{
    const bool is_ours = c->in.is_late || (c->out.is_late && c->state == HTTP_CALL_HEAD);

    mk_stream_timeout(c->s, is_ours ? 0 : c->o.silence_ms);
}

static void settle(struct http_call *c, int result)
{
    if (result == HTTP_REDIRECT) {
        result = follow(c);
        if (result == HTTP_WAITS)
            return;
    }
    switch (result) {
    case HTTP_GONE:
        end(c);
        break;
    case HTTP_RETAKE:
        retake(c);
        break;
    case HTTP_AGAIN:
        mk_stream_run_soon(c->s);
        await(c);
        break;
    case HTTP_WAITS:
        await(c);
        break;
    default:
        finish(c, result);
        break;
    }
}

static void on_event(struct mk_stream *s, unsigned events, void *arg)
{
    struct http_call *c = arg;

    (void)s;
    if (events & MK_IO_TIMEOUT)
        finish(c, http_call_fail(c, DUDA_HTTP_TIMEOUT, "the server is silent"));
    else
        settle(c, step(c));
}

static void on_alarm(struct mk_alarm *alarm, void *arg)
{
    struct http_call *c = arg;

    (void)alarm;
    finish(c, c->early ? c->early
                       : http_call_fail(c, DUDA_HTTP_TIMEOUT, "the answer was not whole in time"));
}

/* ---- calls ---- */

int http_call_begin(struct http_call *c)
{
    int err;

    c->answer.why = c->why;
    c->answer.body = "";
    c->answer.url = c->q.url;
    c->alarm = mk_alarm_new(c->seat->worker->worker, on_alarm, c);
    if (!c->alarm)
        return MK_E_NOMEM;
    err = find_server(c);
    if (err == 0)
        err = take(c, false);
    if (err == 0) {
        mk_alarm_set(c->alarm, c->o.time_ms);
        return 0;
    }
    c->early = http_call_fail(c, error_of(err), why_of(err));
    mk_alarm_soon(c->alarm);
    return 0;
}

bool http_call_go_on(struct http_call *c)
{
    if (!c->in.is_late && !c->out.is_late)
        return false;
    c->in.is_late = c->out.is_late = false;
    mk_stream_run_soon(c->s);
    return true;
}
