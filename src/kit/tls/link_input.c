/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/link_int.h"
#include "kit/tls/plain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { QUIET_RECORDS_MAX = 32 }; /* without data, one after the other, in one call */

int tls_link_flush_input(struct mk_link *l)
{
    struct tls_link *t = l->state;
    size_t told = 0;
    int err = tls_link_flush(t, 0, false, &told);

    t->outlet.untold += (uint32_t)told; /* what send is to count is not lost here */
    l->waits_for = err == MK_E_AGAIN ? MK_IO_WRITE : 0;
    return err;
}

/* ---- the handshake ---- */

/* The last words are said; input is read until the peer has them, since a reset would overtake them. */
static int end_input(struct tls_link *t)
{
    bool is_gone = t->has_ended || t->has_failed; /* no event would tell of it again */

    if (t->state == TLS_LINK_BROKEN || is_gone || t->outlet.left_len > 0 || !t->site) {
        tls_link_become(t, TLS_LINK_BROKEN);
        return MK_E_PEER;
    }
    tls_link_become(t, TLS_LINK_ENDING);
    (void)shutdown(t->fd, SHUT_WR);
    return MK_E_AGAIN;
}

static void count(const struct tls_link *t, bool done)
{
    tls_census_count(t->local->census, t->site ? TLS_SIDE_CLIENT : TLS_SIDE_BACKEND, done);
}

static int refuse_plain(struct tls_link *t)
{
    char answer[TLS_PLAIN_MAX];
    size_t len = tls_plain_answer(answer, mk_worker_wall_s(t->local->worker));

    t->local->used = 0; /* an alert would not be understood, nor be for the next link */
    (void)send(t->fd, answer, len, MSG_NOSIGNAL);
    tls_link_complain(t, MK_LOG_DEBUG, "handshake failed", "a request arrived in the clear");
    count(t, false);
    return end_input(t);
}

static void complain_of_handshake(struct tls_link *t)
{
    char text[TLS_WHY_MAX];
    const char *reason = t->local->engine->why_refused(t, text);

    if (t->is_unagreed) {
        (void)snprintf(text, sizeof(text), "it does not speak %.*s (ALPN)", (int)t->asked.len,
                       t->asked.p);
        reason = text;
    } else if (t->has_ended) {
        reason = "the peer closed the connection";
    }
    tls_link_complain(t, t->site ? MK_LOG_DEBUG : MK_LOG_ERROR,
                      t->site ? "handshake failed" : "handshake with a backend failed", reason);
}

/* As far as the input goes: an event tells of more only when the socket was read to its end. */
static enum tls_step shake_library(struct tls_link *t)
{
    enum tls_step step;
    int quiet = 0;

    do {
        t->is_blocked = false;
        step = t->local->engine->shake(t);
    } while (step == TLS_STEP_AGAIN && !t->is_blocked && !t->is_plain &&
             ++quiet < QUIET_RECORDS_MAX);
    return step == TLS_STEP_AGAIN && !t->is_blocked ? TLS_STEP_FAIL : step;
}

/* A backend that chose nothing, or another protocol, would misread all that follows: it is told the end, and no byte more. */
static bool has_agreed(struct tls_link *t)
{
    const struct tls_link_engine *engine = t->local->engine;
    struct mk_str agreed;

    if (!t->asked.p)
        return true;
    agreed = engine->agreed(t);
    if (agreed.p && agreed.len == t->asked.len && memcmp(agreed.p, t->asked.p, agreed.len) == 0)
        return true;
    t->is_unagreed = true;
    engine->say_end(t);
    return false;
}

/* What the last step wrote leaves with the first answer, or when recv is over. */
static int shake(struct mk_link *l)
{
    struct tls_link *t = l->state;
    enum tls_step step = shake_library(t);
    int err;

    if (t->is_plain)
        return refuse_plain(t);
    if (step == TLS_STEP_DONE && t->state != TLS_LINK_BROKEN && has_agreed(t)) {
        tls_link_become(t, TLS_LINK_OPEN);
        count(t, true);
        return 0;
    }
    err = tls_link_flush_input(l);
    if (step == TLS_STEP_AGAIN && (err == 0 || err == MK_E_AGAIN)) {
        l->waits_for |= MK_IO_READ;
        return MK_E_AGAIN;
    }
    complain_of_handshake(t);
    count(t, false);
    return end_input(t);
}

int tls_link_ready(struct mk_link *l)
{
    const struct tls_link *t = l->state;

    switch ((enum tls_link_state)t->state) {
    case TLS_LINK_NEW:
    case TLS_LINK_SHAKING:
        return shake(l);
    case TLS_LINK_OPEN:
        return 0;
    case TLS_LINK_ENDING:
        return MK_E_AGAIN;
    case TLS_LINK_BROKEN:
        break;
    }
    return MK_E_PEER;
}

/* ---- data ---- */

static ssize_t throw_away(struct tls_link *t)
{
    struct tls_local *w = t->local;
    ssize_t n;

    while ((n = recv(t->fd, w->in, w->in_size, 0)) > 0) {
        t->thrown += (uint32_t)n;
        if (t->thrown > TLS_DRAIN_MAX)
            return MK_E_PEER;
    }
    return n < 0 && errno == EAGAIN ? MK_E_AGAIN : MK_E_PEER;
}

/* An end without close_notify may have been made by somebody on the way. HTTP requests say themselves where they end;
 * answers of backends may not (RFC 9112 section 9.8). */
static ssize_t end_without_word(struct tls_link *t)
{
    if (t->site)
        return 0;
    return tls_link_fail(t, "a backend closed the connection",
                         "without a close_notify, so its answer may be incomplete");
}

static ssize_t read_data(struct tls_link *t, void *buf, size_t len)
{
    char text[TLS_WHY_MAX];

    for (int quiet = 0; quiet < QUIET_RECORDS_MAX; quiet++) {
        size_t got;

        t->is_blocked = false;
        switch (t->local->engine->read(t, buf, len, &got)) {
        case TLS_STEP_DONE:
            return (ssize_t)got;
        case TLS_STEP_AGAIN:
            if (t->is_blocked)
                return MK_E_AGAIN;
            continue; /* a record that was no data */
        case TLS_STEP_END:
            return 0;
        case TLS_STEP_CUT:
            return end_without_word(t);
        case TLS_STEP_FAIL:
            return tls_link_fail(t, "receiving failed", t->local->engine->why(t, text));
        }
    }
    return tls_link_fail(t, "receiving failed", "the peer sends records without data");
}

ssize_t tls_link_recv(struct mk_link *l, void *buf, size_t len)
{
    struct tls_link *t = l->state;
    const struct tls_link_engine *engine = t->local->engine;
    ssize_t n;
    int err;

    if (t->state == TLS_LINK_ENDING)
        return throw_away(t);
    t->has_all = false; /* what an earlier call found in the socket is past */
    err = tls_link_ready(l);
    if (err < 0)
        return err;
    n = read_data(t, buf, len);
    l->is_drained = t->has_all && !engine->has_input(t);
    if (n == MK_E_AGAIN && engine->rest)
        engine->rest(t);
    if (!tls_link_waits(t)) {
        l->waits_for = 0;
        return n;
    }
    err = tls_link_flush_input(l); /* tickets, answers to key updates, alerts */
    return err < 0 && err != MK_E_AGAIN ? err : n;
}
