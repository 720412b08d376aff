/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/h2/wire.h"

enum {
    TURN_IN = 4 * H2_WIRE_IN,   /* read in one event */
    TURN_OUT = 4 * H2_WIRE_OUT, /* sent in one event */
    WAITING = 256 << 10,        /* bytes for a peer that takes none, with which no more is read */
};

void h2_wire_begin(struct h2_wire *w, int64_t now_ms)
{
    w->is_busy = true;
    w->session.out = &w->desk->out;
    w->session.room = w->desk->fields;
    w->session.now_ms = now_ms;
}

/* Windows bound bodies that wait, nothing does heads without one: their streams have ended. */
static bool has_much(const struct h2_wire *w)
{
    return h2_text_left(&w->left) + h2_text_left(&w->session.late) >= WAITING;
}

void h2_wire_end(struct h2_wire *w)
{
    w->session.out = NULL;
    w->is_busy = false;
    if (w->is_paused && !has_much(w))
        mk_stream_run_soon(w->stream);
}

void h2_wire_wake(struct h2_wire *w)
{
    if (!w->is_busy)
        mk_stream_run_soon(w->stream);
}

bool h2_wire_is_flushed(const struct h2_wire *w)
{
    return h2_text_left(&w->left) == 0 && !h2_session_has_output(&w->session);
}

void h2_wire_fini(struct h2_wire *w)
{
    w->is_busy = true; /* what its streams wake is no more */
    w->session.is_over = true;
    if (w->session.out)
        w->session.out->used = 0;
    w->session.out = NULL;
    h2_session_fini(&w->session);
    h2_text_free(&w->left);
}

/* ---- output ---- */

/* @return false: the peer takes no more now, or is lost. */
static bool send_left(struct h2_wire *w)
{
    struct iovec part = {.iov_len = h2_text_left(&w->left)};
    ssize_t n;

    if (part.iov_len == 0)
        return true;
    part.iov_base = w->left.p + w->left.at;
    n = mk_stream_write(w->stream, &part, 1);
    if (n > 0) {
        w->moved_ms = w->session.now_ms;
        h2_text_use(&w->left, (size_t)n);
    } else if (n != MK_E_AGAIN) {
        w->is_lost = true;
    }
    return h2_text_left(&w->left) == 0;
}

/* What was gathered waits. */
static void leave_rest(struct h2_wire *w, size_t from)
{
    struct h2_out *out = &w->desk->out;

    if (h2_text_append(&w->left, out->p + from, out->used - from, UINT32_MAX / 4) < 0)
        w->is_lost = true;
    out->used = 0;
}

/* @return false: the peer takes no more now, or is lost. */
static bool send_gathered(struct h2_wire *w)
{
    struct h2_out *out = &w->desk->out;
    struct iovec part = {out->p, out->used};
    ssize_t n;

    if (part.iov_len == 0)
        return true;
    n = mk_stream_write(w->stream, &part, 1);
    if (n < 0 && n != MK_E_AGAIN) {
        w->is_lost = true;
        return false;
    }
    w->moved_ms = w->session.now_ms;
    if (n == (ssize_t)part.iov_len) {
        out->used = 0;
        return true;
    }
    leave_rest(w, n > 0 ? (size_t)n : 0);
    return false;
}

static void send_frames(struct h2_wire *w)
{
    size_t sent = 0;
    bool has_more;

    if (!send_left(w)) {
        leave_rest(w, 0);
        return;
    }
    do {
        has_more = h2_session_write(&w->session);
        sent += w->desk->out.used;
        w->is_lost = w->is_lost || w->session.is_lost;
        if (w->is_lost || !send_gathered(w))
            return;
    } while (has_more && sent < TURN_OUT);
    if (has_more)
        mk_stream_run_soon(w->stream);
}

void h2_wire_send(struct h2_wire *w)
{
    h2_session_sweep(&w->session);
    w->is_lost = w->is_lost || w->session.is_lost;
    if (!w->is_lost)
        send_frames(w);
    h2_session_sweep(&w->session);
    w->is_lost = w->is_lost || w->session.is_lost;
}

/* ---- input ---- */

/* @return false: no more now. */
static bool receive_some(struct h2_wire *w)
{
    ssize_t n = mk_stream_read(w->stream, w->desk->in, sizeof(w->desk->in));

    if (n == MK_E_AGAIN)
        return false;
    if (n <= 0) {
        w->has_ended = true;
        w->is_lost = w->is_lost || n < 0;
        return false;
    }
    w->has_received = true;
    h2_session_receive(&w->session, w->desk->in, (size_t)n);
    h2_session_sweep(&w->session);
    return !w->session.is_lost;
}

/* Also from a peer that takes nothing now, up to a bound: a request may be more urgent than what waits. */
void h2_wire_receive(struct h2_wire *w)
{
    w->is_paused = false;
    for (size_t got = 0; got < TURN_IN && !w->has_ended; got += H2_WIRE_IN) {
        w->is_paused = has_much(w);
        if (w->is_paused || !receive_some(w))
            return;
    }
    if (!w->has_ended)
        mk_stream_run_soon(w->stream);
}
