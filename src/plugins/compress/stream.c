/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#include <stdlib.h>
#include <string.h>

enum {
    STILL_MS = 2000, /* a new stream puts none aside that has moved since */
    PIECE = 2048,    /* by which the room grows for what a state had not written */
};

struct stream {
    struct stream *next,
        **at; /* of those that have a state, the one that has moved last is the last */
    struct compress_worker *worker;
    struct mk_worker *of; /* the thread's */
    const struct encoder *encoder;
    struct tally_row *row;
    void *state; /* NULL: it was put aside, or has ended */
    struct encoder_past past;
    int64_t moved_ms;
    char *left; /* what a state that was put aside had not written */
    size_t left_at, left_len;
    size_t need, held; /* of a state; now */
    size_t memory;     /* all of the worker's may take, for this one */
    unsigned level;
    bool has_begun;    /* a state was given something */
    bool is_finishing; /* and all that there is */
    bool is_complete;  /* and wrote all of it */
    bool is_over;
};

/* ---- what they hold ---- */

static void hold(struct stream *s, size_t held)
{
    s->worker->held += held - s->held;
    s->worker->tally->held += held - s->held;
    s->held = held;
}

static void join(struct stream *s)
{
    struct compress_worker *w = s->worker;

    if (!w->end)
        w->end = &w->streams;
    s->next = NULL;
    s->at = w->end;
    *w->end = s;
    w->end = &s->next;
}

static void leave(struct stream *s)
{
    *s->at = s->next;
    if (s->next)
        s->next->at = s->at;
    else
        s->worker->end = s->at;
}

static void move(struct stream *s)
{
    s->moved_ms = mk_worker_now_ms(s->of);
    if (s->next) {
        leave(s);
        join(s);
    }
}

static void close_state(struct stream *s)
{
    s->encoder->close(s->state);
    s->state = NULL;
    leave(s);
}

static int open_state(struct stream *s)
{
    s->state = s->encoder->open(s->level, &s->past);
    if (!s->state)
        return MK_E_NOMEM;
    join(s);
    hold(s, s->need);
    return 0;
}

/* Its memory is not kept until the client has read the last bytes. */
static void end(struct stream *s)
{
    if (s->is_over)
        return;
    if (s->state)
        close_state(s);
    free(s->left);
    s->left = NULL;
    hold(s, 0);
    s->row->under_way--;
    s->is_over = true;
}

static void on_request_end(void *arg)
{
    end(arg);
}

/* ---- putting aside ---- */

/* One call of the encoder, into the memory of the stream itself. @return enum mk_filter_result or an error. */
static int write_aside(struct stream *s, enum encoder_flow flow)
{
    char *left = realloc(s->left, s->left_len + PIECE);
    size_t none = 0, len = PIECE;
    int result;

    if (!left)
        return MK_E_NOMEM;
    s->left = left;
    result = s->encoder->code(s->state, NULL, &none, left + s->left_len, &len, flow);
    s->left_len += len;
    return result;
}

/* What its client does not take holds little: what was given is written here, and another state will go on. @return 0 or an error. */
static int put_aside(struct stream *s)
{
    enum encoder_flow flow = s->is_finishing ? ENCODER_FINISH : s->encoder->part_end;
    int result = MK_FILTER_HOLDS;

    while (s->has_begun && result == MK_FILTER_HOLDS)
        result = write_aside(s, flow);
    if (result < 0)
        return result;
    s->is_complete = s->is_finishing;
    close_state(s);
    hold(s, s->left ? s->left_len + PIECE : 0);
    s->row->put_aside++;
    return 0;
}

bool compress_make_room(struct compress_worker *w, struct mk_worker *of, size_t need, size_t memory)
{
    int64_t before_ms = mk_worker_now_ms(of) - STILL_MS;

    while (w->held + need > memory && w->streams) {
        if (w->streams->moved_ms > before_ms || put_aside(w->streams) < 0)
            return false;
    }
    return w->held + need <= memory;
}

/* ---- its life ---- */

struct stream *compress_stream_open(struct mk_request *r, struct compress_worker *w,
                                    struct mk_worker *of, unsigned number, unsigned level,
                                    size_t memory)
{
    struct stream *s = mk_request_alloc(r, sizeof(*s));

    if (!s)
        return NULL;
    *s = (struct stream){.worker = w,
                         .of = of,
                         .encoder = compress_encoder_at(number),
                         .row = &w->tally->rows[number],
                         .level = level,
                         .is_over = true};
    s->need = encoder_memory(s->encoder, level);
    s->memory = memory;
    s->moved_ms = mk_worker_now_ms(of);
    if (mk_request_on_end(r, on_request_end, s) < 0 || open_state(s) < 0)
        return NULL;
    s->is_over = false;
    s->row->under_way++;
    s->row->streams++;
    return s;
}

static int give_left(struct stream *s, char *out, size_t *out_len)
{
    size_t len = s->left_len - s->left_at;

    if (len > *out_len)
        len = *out_len;
    if (len > 0)
        memcpy(out, s->left + s->left_at, len);
    s->left_at += len;
    *out_len = len;
    if (s->left_at < s->left_len)
        return MK_FILTER_HOLDS;
    free(s->left);
    s->left = NULL;
    s->left_at = s->left_len = 0;
    if (!s->state)
        hold(s, 0);
    return s->is_complete ? MK_FILTER_DONE : MK_FILTER_HOLDS;
}

/* Its client takes something again. Who goes for it comes back likewise; the bound is passed by this one state at most. */
static int go_on(struct stream *s)
{
    struct compress_worker *w = s->worker;

    while (w->held + s->need > s->memory && w->streams) {
        if (put_aside(w->streams) < 0)
            break;
    }
    return open_state(s);
}

static int code(struct stream *s, const char *in, size_t *in_len, char *out, size_t *out_len,
                enum encoder_flow flow)
{
    int err = s->state ? 0 : go_on(s);

    if (err < 0)
        return err;
    s->has_begun = true;
    s->is_finishing = flow == ENCODER_FINISH;
    err = s->encoder->code(s->state, in, in_len, out, out_len, flow);
    s->past.len += *in_len;
    return err;
}

int compress_stream_change(void *state, const char *in, size_t *in_len, char *out, size_t *out_len,
                           bool last)
{
    struct stream *s = state;
    enum encoder_flow flow = last ? ENCODER_FINISH : *in_len == 0 ? ENCODER_FLUSH : ENCODER_MORE;
    int result;

    if (s->state)
        move(s);
    if (s->left_len > 0 || s->is_complete) {
        *in_len = 0;
        result = give_left(s, out, out_len);
    } else if (!s->state && flow == ENCODER_FLUSH) { /* all that was given is written */
        *out_len = 0;
        result = MK_FILTER_MORE;
    } else {
        result = code(s, in, in_len, out, out_len, flow);
    }
    s->row->in += *in_len;
    s->row->out += *out_len;
    if (result < 0 || result == MK_FILTER_DONE)
        end(s);
    return result;
}
