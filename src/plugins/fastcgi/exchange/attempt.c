/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/exchange.h"

#include "kit/backends/repeat.h"
#include "kit/target/target.h"

#include <poll.h>

/* Which server is asked for a request, and which after that. */

enum { WHY_MAX = 256 };
_Static_assert((int)FCGI_SERVERS_MAX <= (int)CHOICE_MAX, "a location may have more servers");

/* ---- who is at fault ---- */

void fastcgi_attempt_log(const struct exchange *x, const char *why)
{
    char url[TARGET_TEXT];

    mk_request_log(x->r, MK_LOG_ERROR, "fastcgi failed server=%s why=\"%s\" url=\"%s\"",
                   x->server->name, why, target_text(x->r, url));
    mk_request_reason(x->r, why);
}

/* The server, not the request, is at fault: others are asked first for some time. */
static void blame(const struct exchange *x, const char *why)
{
    const struct fcgi_server *server = x->server;

    fastcgi_attempt_log(x, why);
    if (fastcgi_backend_failed(server->backend, mk_worker_now_ms(x->worker), server->offline_ms) &&
        x->location->nservers > 1)
        mk_request_log(x->r, MK_LOG_WARN, "fastcgi server offline server=%s ms=%lld", server->name,
                       (long long)server->offline_ms);
}

void fastcgi_attempt_worked(const struct exchange *x)
{
    mk_request_reason(x->r, NULL);
    if (fastcgi_backend_works(x->server->backend) && x->location->nservers > 1)
        mk_request_log(x->r, MK_LOG_INFO, "fastcgi server online server=%s", x->server->name);
}

/* ---- a server, and its connection ---- */

void fastcgi_attempt_count_out(struct exchange *x)
{
    if (!x->busy)
        return;
    backend_notes_time(&x->notes, BACKEND_NOTE_WHOLE);
    atomic_fetch_sub_explicit(&x->busy->busy, 1, memory_order_relaxed);
    x->busy = NULL;
}

static void on_connected(void *arg, struct mk_stream *s, bool fresh, int error);

static int take(struct exchange *x, bool fresh)
{
    struct backend *b = x->server->backend;
    int err;

    exchange_turn(x, &fastcgi_exchange_states, &x->state, EXCHANGE_CONNECT);
    backend_notes_begin(&x->notes, x->r, x->server->name);
    err = mk_upstream_take(b->pool->upstream, x->worker, fresh, on_connected, x, &x->wait);
    if (err < 0) {
        x->wait = NULL;
        return err;
    }
    atomic_fetch_add_explicit(&b->busy, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&b->requests, 1, memory_order_relaxed);
    x->busy = b;
    return 0;
}

static int choose(struct exchange *x)
{
    const struct fcgi_location *l = x->location;
    struct choice choices[CHOICE_MAX];

    for (unsigned i = 0; i < l->nservers; i++)
        choices[i] = fastcgi_backend_choice(l->servers[i]->backend);
    return fastcgi_choice_make(choices, l->nservers, x->tried, mk_worker_now_ms(x->worker),
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
        x->answer.backend = x->server->name;
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

int fastcgi_attempt_begin(struct exchange *x)
{
    return ask(x, MK_E_PEER);
}

/* Is it a fault of the server, and not of load or of ours? */
static bool is_broken(int error)
{
    return error != MK_E_BUSY && error != MK_E_NOMEM && error != MK_E_NOFD;
}

static void on_refused(struct exchange *x, int error)
{
    char why[WHY_MAX];

    fastcgi_attempt_count_out(x);
    mk_upstream_why(x->server->backend->pool->upstream, x->worker, error, why, sizeof(why));
    if (is_broken(error))
        blame(x, why);
    else
        fastcgi_attempt_log(x, why);
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
    bool is_first = x->is_untold && (events & MK_IO_READ);

    if (is_first)
        x->is_untold = false;
    return !fastcgi_send_is_done(x) ||
           (events & ~(unsigned)MK_IO_WRITE) != (is_first ? MK_IO_READ : 0U);
}

/*
 * Has it given something that was not taken, since the client has no room for it, or room for what was not sent? Then it
 * is others that it waits for: the client, or us.
 */
static bool is_waiting(const struct exchange *x)
{
    struct pollfd state = {.fd = mk_stream_fd(x->s),
                           .events = (short)(fastcgi_send_is_done(x) ? POLLIN : POLLIN | POLLOUT)};

    return poll(&state, 1, 0) > 0;
}

static void run_out(struct exchange *x)
{
    if (!is_waiting(x)) {
        exchange_turn(x, &fastcgi_time_states, &x->time, TIME_OUT);
        return;
    }
    fastcgi_exchange_disarm(x);
    fastcgi_exchange_arm(x);
}

static void on_server(struct mk_stream *s, unsigned events, void *arg)
{
    struct exchange *x = arg;

    (void)s;
    if ((events & MK_IO_TIMEOUT) && x->time == TIME_RUNS)
        run_out(x);
    if (!is_news(x, events)) {
        fastcgi_exchange_arm(x);
        return;
    }
    if (events & (MK_IO_READ | MK_IO_HANGUP | MK_IO_ERROR))
        fastcgi_exchange_disarm(x);
    if ((events & MK_IO_WRITE) && x->error == 0)
        x->error = fastcgi_send_some(x);
    mk_request_resume(x->r);
}

/* A new connection to the same server. */
static int renew(struct exchange *x)
{
    fastcgi_exchange_leave(x, false);
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
    exchange_turn(x, &fastcgi_exchange_states, &x->state, EXCHANGE_SEND);
    backend_notes_connect(&x->notes, x->r, x->server->address, s);
    x->s = s;
    x->is_fresh = fresh;
    x->is_untold = true;
    x->in = (struct incoming){.buf = x->in.buf};
    mk_stream_tell(s, on_server, x);
    x->error = fastcgi_exchange_hold(x);
    if (x->error < 0)
        fastcgi_exchange_leave(x, false);
    else if (!fresh && !mk_upstream_is_quiet(x->server->backend->pool->upstream, s))
        x->error = renew(x);
    else
        x->error = fastcgi_send_some(x);
    if (x->error < 0)
        mk_request_resume(x->r);
}

/* ---- again ---- */

/* What was sent is still in the buffer that was to take the answer. */
static void take_back_buffer(struct exchange *x)
{
    if (x->out.buf)
        return;
    x->out.buf = x->in.buf;
    x->in.buf = NULL;
}

static enum backend_repeat judge_repeat(const struct exchange *x)
{
    const struct backend_loss loss = {
        .has_left = fastcgi_send_has_left(x),
        .is_idempotent = x->is_idempotent,
        .keeps_body = fastcgi_send_can_repeat(x),
        .is_fresh = x->is_fresh,
    };
    const char *rule;
    enum backend_repeat verdict = backend_repeat(&loss, &rule);

    mk_request_log(x->r, MK_LOG_TRACE, "fastcgi repeat rule=\"%s\"", rule);
    return verdict;
}

int fastcgi_attempt_repeat(struct exchange *x, int why)
{
    enum backend_repeat verdict = judge_repeat(x);
    int err;

    if (x->is_fresh && x->written == WRITTEN_ALL)
        blame(x, "the connection ended before an answer");
    else if (x->is_fresh) /* perhaps it gave up on a slow client */
        fastcgi_attempt_log(x, "the connection ended before the request");
    else if (verdict == BACKEND_REPEAT_NEVER)
        fastcgi_attempt_log(x, "the backend had closed an idle connection");
    if (verdict == BACKEND_REPEAT_NEVER)
        return why;
    fastcgi_exchange_leave(x, false);
    take_back_buffer(x);
    err = fastcgi_send_repeat(x);
    if (err < 0)
        return err;
    return verdict == BACKEND_REPEAT_SAME ? renew(x) : ask_others(x, why);
}
