/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/exchange.h"

enum {
    AROUND = 2 * FCGI_HEADER, /* a record's header, and the empty record that ends STDIN */
    TURN_PIECES = 16,         /* sent before others have their turn: 1 MB */
};

static void turn_written(struct exchange *x, enum written_state to)
{
    exchange_turn(x, &fastcgi_written_states, &x->written, to);
}

static void turn_sending(struct exchange *x, enum sending_state to)
{
    exchange_turn(x, &fastcgi_sending_states, &x->sending, to);
}

/* ---- the records up to STDIN ---- */

static int add_variable(void *arg, struct mk_str name, struct mk_str value)
{
    return fastcgi_writer_param(arg, name, value);
}

static int write_head(struct exchange *x)
{
    const struct fcgi_location *l = x->location;
    const struct gateway_variables variables = {
        .script = &x->script,
        .content_length = x->body.length,
        .has_body = x->body.announced,
        .own = l->params,
        .nown = l->nparams,
    };
    struct outgoing *o = &x->out;
    struct fcgi_writer w;
    ssize_t n;
    int err;

    fastcgi_writer_begin(&w, o->buf, BUFFER_SIZE - AROUND, l->keep_alive);
    err = gateway_variables_each(&variables, x->r, add_variable, &w);
    if (err < 0)
        return err;
    n = fastcgi_writer_end(&w, x->body.length != 0);
    if (n < 0)
        return (int)n;
    o->len = (size_t)n;
    turn_written(x, x->body.length == 0 ? WRITTEN_ALL : WRITTEN_HEAD);
    return 0;
}

/* ---- STDIN ---- */

static size_t room_for_body(const struct outgoing *o)
{
    size_t room = BUFFER_SIZE - AROUND - o->len;

    return (room < FCGI_CONTENT_MAX ? room : FCGI_CONTENT_MAX) - o->open;
}

/* @return 0, MK_E_AGAIN, or an error of the body. */
static int read_piece(struct exchange *x)
{
    struct outgoing *o = &x->out;
    size_t room = room_for_body(o);
    ssize_t n =
        room > 0 ? intake_read(&x->body, x->r, o->buf + o->len + FCGI_HEADER + o->open, room) : 0;

    if (n < 0)
        return (int)n;
    if (n == 0 && room > 0 && x->body.length >= 0)
        return MK_E_PEER; /* shorter than it was said to be */
    o->open += (size_t)n;
    return 0;
}

static bool has_whole_body(const struct exchange *x)
{
    return x->body.length < 0 ? x->body.ended : x->body.at >= (uint64_t)x->body.length;
}

static void close_piece(struct exchange *x)
{
    struct outgoing *o = &x->out;

    if (o->open > 0) { /* an empty one would be the end */
        fastcgi_put_header(o->buf + o->len, FCGI_STDIN, o->open);
        o->len += FCGI_HEADER + o->open;
        o->open = 0;
        if (x->written == WRITTEN_HEAD)
            turn_written(x, WRITTEN_PIECE);
    }
    if (!has_whole_body(x))
        return;
    fastcgi_put_header(o->buf + o->len, FCGI_STDIN, 0);
    o->len += FCGI_HEADER;
    turn_written(x, WRITTEN_ALL);
}

static int gather_small(struct exchange *x)
{
    while (!has_whole_body(x)) {
        int err = read_piece(x);

        if (err < 0)
            return err;
    }
    close_piece(x);
    return 0;
}

int fastcgi_send_prepare(struct exchange *x)
{
    struct outgoing *o = &x->out;

    if (!o->buf && !(o->buf = fastcgi_buffers_take(&x->local->buffers)))
        return MK_E_NOMEM;
    if (x->written == WRITTEN_NONE) {
        int err = write_head(x);

        if (err < 0)
            return err;
    }
    if (x->written == WRITTEN_ALL || x->body.mode == INTAKE_OFF ||
        (uint64_t)x->body.length > room_for_body(o) + o->open)
        return 0;
    return gather_small(x);
}

/* ---- sending ---- */

static bool wants_piece(const struct exchange *x)
{
    return x->written < WRITTEN_ALL && (x->out.at == x->out.len || x->written < WRITTEN_PIECE);
}

/* @return 0, MK_E_AGAIN: there is nothing of it; or an error of the body. */
static int add_piece(struct exchange *x)
{
    struct outgoing *o = &x->out;
    int err;

    if (o->at == o->len) {
        o->at = o->len = 0;
        o->is_replaced = true;
    }
    err = read_piece(x);
    if (err == 0)
        close_piece(x);
    return err;
}

/* @return whether all that is written is sent. */
static bool write_out(struct exchange *x)
{
    struct outgoing *o = &x->out;

    while (o->at < o->len) {
        const struct iovec part = {o->buf + o->at, o->len - o->at};
        ssize_t n = mk_stream_write(x->s, &part, 1);

        if (n == MK_E_AGAIN)
            fastcgi_exchange_arm(x);
        else if (n < 0)
            turn_sending(x, x->sending == SENDING_READY ? SENDING_DEAF : SENDING_CUT);
        if (n < 0)
            return false;
        fastcgi_exchange_disarm(x);
        if (x->sending == SENDING_READY)
            turn_sending(x, SENDING_PART);
        o->at += (size_t)n;
    }
    if (x->written == WRITTEN_ALL)
        turn_sending(x, SENDING_WHOLE);
    return true;
}

bool fastcgi_send_is_done(const struct exchange *x)
{
    return x->sending == SENDING_WHOLE;
}

bool fastcgi_send_has_left(const struct exchange *x)
{
    return x->sending >= SENDING_PART && x->sending != SENDING_DEAF;
}

int fastcgi_send_some(struct exchange *x)
{
    struct outgoing *o = &x->out;

    for (unsigned i = 0; x->s && x->sending < SENDING_WHOLE; i++) {
        int err = 0;

        if (i == TURN_PIECES) {
            mk_stream_run_soon(x->s);
            break;
        }
        if (wants_piece(x))
            err = add_piece(x);
        if (err < 0 && err != MK_E_AGAIN)
            return err;
        if (o->at == o->len || !write_out(x))
            break;
    }
    return 0;
}

/* ---- again ---- */

bool fastcgi_send_can_repeat(const struct exchange *x)
{
    return !x->out.is_replaced || intake_can_rewind(&x->body);
}

int fastcgi_send_repeat(struct exchange *x)
{
    struct outgoing *o = &x->out;

    o->at = 0;
    if (x->sending != SENDING_READY)
        turn_sending(x, SENDING_READY);
    if (!o->is_replaced)
        return 0;
    o->len = 0;
    o->is_replaced = false;
    turn_written(x, WRITTEN_NONE);
    intake_rewind(&x->body);
    return fastcgi_send_prepare(x);
}
