/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/h2/channel.h"

enum {
    TURN_IN = 4 * H2_CHANNEL_IN,   /* read in one event */
    TURN_OUT = 4 * H2_CHANNEL_OUT, /* sent in one event */
    WAITING = 256 << 10, /* bytes for a peer that takes none, with which no more is read */
};

void h2_channel_begin(struct h2_channel *c, int64_t now_ms)
{
    c->is_busy = true;
    c->session.out = &c->desk->out;
    c->desk->out.cap = c->most ? c->most : sizeof(c->desk->bytes);
    c->session.room = c->desk->fields;
    c->session.now_ms = now_ms;
}

/* Windows bound bodies that wait, nothing does heads without one: their streams have ended. */
static bool has_much(const struct h2_channel *c)
{
    return h2_text_left(&c->left) + h2_text_left(&c->session.late) >= WAITING;
}

void h2_channel_end(struct h2_channel *c)
{
    c->session.out = NULL;
    c->is_busy = false;
    if (c->is_paused && !has_much(c))
        mk_stream_run_soon(c->stream);
}

void h2_channel_wake(struct h2_channel *c)
{
    if (!c->is_busy)
        mk_stream_run_soon(c->stream);
}

bool h2_channel_is_flushed(const struct h2_channel *c)
{
    return h2_text_left(&c->left) == 0 && !h2_session_has_output(&c->session);
}

void h2_channel_fini(struct h2_channel *c)
{
    c->is_busy = true; /* what its streams wake is no more */
    c->session.is_over = true;
    if (c->session.out)
        c->session.out->used = 0;
    c->session.out = NULL;
    h2_session_fini(&c->session);
    h2_text_free(&c->left);
}

/* ---- output ---- */

/* @return false: the peer takes no more now, or is lost. */
static bool send_left(struct h2_channel *c)
{
    struct iovec part = {.iov_len = h2_text_left(&c->left)};
    ssize_t n;

    if (part.iov_len == 0)
        return true;
    part.iov_base = c->left.p + c->left.at;
    n = mk_stream_write(c->stream, &part, 1);
    if (n > 0) {
        c->moved_ms = c->session.now_ms;
        h2_text_use(&c->left, (size_t)n);
    } else if (n != MK_E_AGAIN) {
        c->is_lost = true;
    }
    return h2_text_left(&c->left) == 0;
}

/* What was gathered waits. */
static void leave_rest(struct h2_channel *c, size_t from)
{
    struct h2_out *out = &c->desk->out;

    if (h2_text_append(&c->left, out->p + from, out->used - from, UINT32_MAX / 4) < 0)
        c->is_lost = true;
    out->used = 0;
}

/* @return false: the peer takes no more now, or is lost. */
static bool send_gathered(struct h2_channel *c)
{
    struct h2_out *out = &c->desk->out;
    struct iovec part = {out->p, out->used};
    ssize_t n;

    if (part.iov_len == 0)
        return true;
    n = mk_stream_write(c->stream, &part, 1);
    if (n < 0 && n != MK_E_AGAIN) {
        c->is_lost = true;
        return false;
    }
    c->moved_ms = c->session.now_ms;
    if (n == (ssize_t)part.iov_len) {
        out->used = 0;
        return true;
    }
    leave_rest(c, n > 0 ? (size_t)n : 0);
    return false;
}

static void send_frames(struct h2_channel *c)
{
    size_t sent = 0;
    bool has_more;

    if (!send_left(c)) {
        leave_rest(c, 0);
        return;
    }
    do {
        has_more = h2_session_write(&c->session);
        sent += c->desk->out.used;
        c->is_lost = c->is_lost || c->session.is_lost;
        if (c->is_lost || !send_gathered(c))
            return;
    } while (has_more && sent < TURN_OUT);
    if (has_more)
        mk_stream_run_soon(c->stream);
}

void h2_channel_send(struct h2_channel *c)
{
    h2_session_sweep(&c->session);
    c->is_lost = c->is_lost || c->session.is_lost;
    if (!c->is_lost)
        send_frames(c);
    h2_session_sweep(&c->session);
    c->is_lost = c->is_lost || c->session.is_lost;
}

/* ---- input ---- */

/* @return false: no more now. */
static bool receive_some(struct h2_channel *c)
{
    ssize_t n = mk_stream_read(c->stream, c->desk->in, sizeof(c->desk->in));

    if (n == MK_E_AGAIN)
        return false;
    if (n <= 0) {
        c->has_ended = true;
        c->is_lost = c->is_lost || n < 0;
        return false;
    }
    c->has_received = true;
    h2_session_receive(&c->session, c->desk->in, (size_t)n);
    h2_session_sweep(&c->session);
    return !c->session.is_lost;
}

/* Also from a peer that takes nothing now, up to a bound: a request may be more urgent than what waits. */
void h2_channel_receive(struct h2_channel *c)
{
    c->is_paused = false;
    for (size_t got = 0; got < TURN_IN && !c->has_ended; got += H2_CHANNEL_IN) {
        c->is_paused = has_much(c);
        if (c->is_paused || !receive_some(c))
            return;
    }
    if (!c->has_ended)
        mk_stream_run_soon(c->stream);
}
