/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/exchange.h"

enum { TURN_READS = 16 }; /* without a byte of output: then others have their turn */

/* ---- STDERR ---- */

static void log_line(void *arg, const char *text)
{
    const struct exchange *x = arg;

    mk_request_log(x->r, MK_LOG_ERROR, "fastcgi stderr server=%s text=\"%s\"", x->server->name,
                   text);
}

void fastcgi_receive_end_complaint(struct exchange *x)
{
    gateway_complaint_end(&x->complaint, log_line, x);
}

/* ---- records ---- */

/* Output stays where it came, or moves up to what came before it. */
static void take_output(struct incoming *in, struct mk_str piece)
{
    if (in->at == in->end)
        in->at = in->end = (size_t)(piece.p - in->buf);
    else
        memmove(in->buf + in->end, piece.p, piece.len);
    in->end += piece.len;
}

/* END_REQUEST. @return as incoming.error: what its status means, MK_E_EOF for all is well. */
static int judge_end(const struct exchange *x)
{
    switch (x->in.reader.protocol_status) {
    case FCGI_REQUEST_COMPLETE:
        return MK_E_EOF;
    case FCGI_OVERLOADED:
        fastcgi_attempt_log(x, "the application is overloaded");
        return MK_E_BUSY;
    default:
        fastcgi_attempt_log(x, "the application refused the request");
        return MK_E_UNSUPPORTED;
    }
}

/* No more comes. */
static void rest(struct exchange *x, bool reusable)
{
    exchange_turn(x, &fastcgi_exchange_states, &x->state, EXCHANGE_REST);
    fastcgi_exchange_leave(x, reusable);
}

/* The connection is free for others, while the client still reads. */
static void take_end(struct exchange *x, bool is_last)
{
    x->in.error = judge_end(x);
    fastcgi_receive_end_complaint(x);
    if (!is_last)
        mk_upstream_distrust(x->server->backend->pool->upstream);
    rest(x, is_last && fastcgi_send_is_done(x));
}

static void strip(struct exchange *x, size_t len)
{
    struct incoming *in = &x->in;
    size_t from = 0, used;
    struct mk_str piece;

    for (; from < len && in->error == 0; from += used) {
        int what = fastcgi_read(&in->reader, in->buf + from, len - from, &used, &piece);

        if (what == FCGI_PIECE_OUT)
            take_output(in, piece);
        else if (what == FCGI_PIECE_ERR)
            gateway_complaint_add(&x->complaint, piece.p, piece.len, log_line, x);
        else if (what == FCGI_PIECE_END)
            take_end(x, from + used == len);
        else if (what < 0) {
            fastcgi_attempt_log(x, in->reader.why);
            in->error = what;
        }
    }
}

/* ---- bytes ---- */

/* What was sent is not needed any more when an answer comes. */
static bool has_buffer(struct exchange *x)
{
    if (x->in.buf)
        return true;
    if (fastcgi_send_is_done(x)) {
        x->in.buf = x->out.buf;
        x->out.buf = NULL;
    } else {
        x->in.buf = fastcgi_buffers_take(&x->local->buffers);
    }
    return x->in.buf != NULL;
}

/* The end of input is an end of the answer only where the application said so. */
static int end_of_input(struct exchange *x)
{
    if (!x->in.reader.out_ended)
        return MK_E_PEER;
    fastcgi_receive_end_complaint(x);
    rest(x, false);
    return MK_E_EOF;
}

static void take_first(struct exchange *x)
{
    exchange_turn(x, &fastcgi_exchange_states, &x->state, EXCHANGE_ANSWER);
    backend_notes_time(&x->notes, BACKEND_NOTE_FIRST);
}

/* @return 0: go on; MK_E_AGAIN. */
static int fill(struct exchange *x)
{
    struct incoming *in = &x->in;
    ssize_t n;

    if (!has_buffer(x)) {
        in->error = MK_E_NOMEM;
        return 0;
    }
    in->at = in->end = 0;
    n = mk_stream_read(x->s, in->buf, BUFFER_SIZE);
    if (n == MK_E_AGAIN) {
        if (x->sending >= SENDING_WHOLE)
            fastcgi_exchange_arm(x);
        return MK_E_AGAIN;
    }
    if (n <= 0) {
        in->error = n == 0 ? end_of_input(x) : (int)n;
        return 0;
    }
    fastcgi_exchange_disarm(x);
    if (x->state == EXCHANGE_SEND)
        take_first(x);
    strip(x, (size_t)n);
    return 0;
}

/* Until there is output, or will be none. @return 1, MK_E_AGAIN or MK_E_TIMEOUT. */
static int gather(struct exchange *x)
{
    for (unsigned i = 0; x->in.at == x->in.end && x->in.error == 0; i++) {
        if (i == TURN_READS) {
            mk_request_resume(x->r);
            return MK_E_AGAIN;
        }
        if (x->time == TIME_OUT)
            return MK_E_TIMEOUT;
        if (fill(x) < 0)
            return MK_E_AGAIN;
    }
    return 1;
}

int fastcgi_receive_some(struct exchange *x)
{
    int err = gather(x);

    if (err < 0 || x->in.at < x->in.end || x->in.error == MK_E_EOF)
        return err;
    return x->in.error;
}

ssize_t fastcgi_receive_output(void *arg, char *dst, size_t len)
{
    struct exchange *x = arg;
    struct incoming *in = &x->in;
    int err = x->error < 0 ? x->error : fastcgi_send_some(x);

    if (err == 0)
        err = fastcgi_receive_some(x);
    if (err < 0)
        return err;
    if (len > in->end - in->at)
        len = in->end - in->at;
    memcpy(dst, in->buf + in->at, len);
    in->at += len;
    return (ssize_t)len;
}

int64_t fastcgi_receive_left(void *arg)
{
    const struct exchange *x = arg;

    return x->in.error == MK_E_EOF ? (int64_t)(x->in.end - x->in.at) : -1;
}
