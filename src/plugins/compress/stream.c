/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

struct stream {
    struct compress_worker *worker;
    const struct encoder *encoder;
    struct tally_row *row;
    void *state; /* NULL: it has ended */
    size_t held;
};

/* Its memory is not kept until the client has read the last bytes. */
static void end(struct stream *s)
{
    if (!s->state)
        return;
    s->encoder->close(s->state);
    s->state = NULL;
    s->worker->held -= s->held;
    s->worker->tally->held -= s->held;
    s->row->under_way--;
}

static void on_request_end(void *arg)
{
    end(arg);
}

static void begin(struct stream *s)
{
    s->worker->held += s->held;
    s->worker->tally->held += s->held;
    s->row->under_way++;
    s->row->streams++;
}

struct stream *compress_stream_open(struct mk_request *r, struct compress_worker *w,
                                    unsigned number, unsigned level)
{
    struct stream *s = mk_request_alloc(r, sizeof(*s));

    if (!s)
        return NULL;
    *s = (struct stream){
        .worker = w, .encoder = compress_encoder_at(number), .row = &w->tally->rows[number]};
    s->held = encoder_memory(s->encoder, level);
    if (mk_request_on_end(r, on_request_end, s) < 0)
        return NULL;
    s->state = s->encoder->open(level);
    if (!s->state)
        return NULL;
    begin(s);
    return s;
}

int compress_stream_change(void *state, const char *in, size_t *in_len, char *out, size_t *out_len,
                           bool last)
{
    struct stream *s = state;
    enum encoder_flow flow = last ? ENCODER_FINISH : *in_len == 0 ? ENCODER_FLUSH : ENCODER_MORE;
    int result = s->encoder->code(s->state, in, in_len, out, out_len, flow);

    s->row->in += *in_len;
    s->row->out += *out_len;
    if (result < 0 || result == MK_FILTER_DONE)
        end(s);
    return result;
}
