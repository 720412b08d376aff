/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/link_int.h"

#include "kit/tls/plain.h"

#include <monkey/server.h>

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { LOG_EVERY_S = 1 };

/* ---- states ---- */

#define TLS_LINK_MAY(upper) (1 << TLS_LINK_##upper)

static const uint8_t next_states[] = {
#define NEXT_STATES(upper, lower, next) [TLS_LINK_##upper] = (next),
    TLS_LINK_STATES(NEXT_STATES)
#undef NEXT_STATES
};

bool tls_link_may_become(enum tls_link_state from, enum tls_link_state to)
{
    return from == to || (next_states[from] & 1 << to) != 0;
}

static const char *state_name(enum tls_link_state state)
{
    switch (state) {
#define STATE_NAME(upper, lower, next)                                                             \
    case TLS_LINK_##upper:                                                                         \
        return #lower;
        TLS_LINK_STATES(STATE_NAME)
#undef STATE_NAME
    }
    return "?";
}

void tls_link_become(struct tls_link *t, enum tls_link_state next)
{
    const struct tls_local *w = t->local;

    assert(tls_link_may_become((enum tls_link_state)t->state, next));
    if (t->state == next)
        return;
    mk_server_log(mk_worker_server(w->worker), MK_LOG_TRACE, "%s: fd=%d state=%s next=%s",
                  w->engine->name, t->fd, state_name((enum tls_link_state)t->state),
                  state_name(next));
    t->state = (uint8_t)next;
}

/* ---- the worker's ---- */

void tls_local_init(struct tls_local *w, const struct tls_link_engine *engine,
                    struct mk_worker *worker, struct tls_live *live)
{
    w->engine = engine;
    w->worker = worker;
    w->live = tls_live_ref(live);
    w->census = live ? live->census : NULL;
    w->logged_s[0] = w->logged_s[1] = -1;
    w->used = 0;
}

void tls_local_fini(struct tls_local *w)
{
    tls_live_put(w->live);
}

void tls_link_complain(struct tls_link *t, enum mk_log_level level, const char *what,
                       const char *reason)
{
    struct tls_local *w = t->local;
    int64_t *logged_s = &w->logged_s[t->site ? 0 : 1], now_s = mk_worker_now_ms(w->worker) / 1000;

    if (*logged_s >= 0 && now_s - *logged_s < LOG_EVERY_S)
        return;
    *logged_s = now_s;
    mk_server_log(mk_worker_server(w->worker), level, "%s: %s: %s", w->engine->name, what, reason);
}

/* ---- between the library and the socket ---- */

ssize_t tls_link_read(struct tls_link *t, void *to, size_t len)
{
    ssize_t n = recv(t->fd, to, len, 0);

    t->is_blocked = n < 0 && (errno == EAGAIN || errno == EINTR);
    t->has_all = n < (ssize_t)len;
    if (n <= 0) {
        t->has_ended = n == 0;
        t->has_failed = n < 0 && !t->is_blocked;
        return n;
    }
    if (!t->is_begun) {
        t->is_begun = true;
        t->is_plain = t->site && tls_is_request(*(const uint8_t *)to);
    }
    return n;
}

/* The buffer is full before there are bytes of callers in it only: with a long chain of certificates. */
ssize_t tls_link_write(struct tls_link *t, const void *records, size_t len)
{
    struct tls_local *w = t->local;
    size_t none = 0;

    if (len > w->out_size - w->used) {
        int err = tls_link_flush(t, 0, true, &none);

        if (err < 0 && err != MK_E_AGAIN)
            return err;
    }
    if (len > w->out_size)
        len = w->out_size;
    memcpy(w->out + w->used, records, len);
    w->used += len;
    return (ssize_t)len;
}

int tls_link_flush(struct tls_link *t, size_t bytes, bool more, size_t *told)
{
    struct tls_local *w = t->local;
    size_t used = w->used;
    int err;

    w->used = 0;
    err = tls_outlet_send(&t->outlet, t->fd, w->out, used, bytes, more, told);
    if (err < 0 && err != MK_E_AGAIN)
        tls_link_become(t, TLS_LINK_BROKEN); /* records are lost: what follows could not be read */
    return err;
}

/* ---- the end ---- */

int tls_link_fail(struct tls_link *t, const char *what, const char *reason)
{
    size_t told = 0;

    tls_link_complain(t, MK_LOG_DEBUG, what, reason);
    tls_link_become(t, TLS_LINK_BROKEN);
    if (tls_link_flush(t, 0, false, &told) < 0)
        tls_outlet_fini(&t->outlet); /* no later call sends it */
    return MK_E_PEER;
}

/* Behind bytes that wait it would be lost, or come too early. */
static void say_end(struct tls_link *t)
{
    size_t told = 0;

    if (t->state != TLS_LINK_OPEN || t->has_said_end || t->outlet.left_len > 0)
        return;
    t->has_said_end = true;
    t->local->engine->say_end(t);
    if (tls_link_flush(t, 0, false, &told) < 0)
        tls_link_become(t, TLS_LINK_BROKEN);
}

void tls_link_shutdown(struct mk_link *l)
{
    say_end(l->state);
    (void)shutdown(l->fd, SHUT_WR);
}

void tls_link_close(struct mk_link *l)
{
    struct tls_link *t = l->state;

    if (!l->is_cut)
        say_end(t);
    tls_outlet_fini(&t->outlet);
    free(t->subject);
    t->local->engine->free(t);
}

size_t tls_link_held(const struct mk_link *l)
{
    const struct tls_link *t = l->state;

    return t->outlet.left_at + t->outlet.left_len;
}

const uint8_t *tls_link_policy(const struct mk_link *l)
{
    const struct tls_link *t = l->state;

    return t->site->id.policy;
}
