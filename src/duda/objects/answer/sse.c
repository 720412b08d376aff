/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/objects.h"
#include "service/answer.h"

#include <monkey/web/sse.h>

/* Streams of events: those of libmonkey-web. Their end is that of the request. */

static void add_lines(struct mk_reply *p, void *arg)
{
    const struct mk_duda_request *rq = arg;

    for (const struct mk_duda_line *line = rq->out.lines; line; line = line->next)
        mk_reply_line(p, line->name, line->value);
}

/* Before the request's own end. */
static void forget(void *arg)
{
    struct mk_duda_request *rq = arg;

    rq->events = NULL;
}

static int open_stream(duda_request_t *dr, void (*callback)(duda_request_t *))
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "sse->open");
    const struct mk_sse_options options = {
        .size = sizeof(options), .on_end = forget, .arg = rq, .on_head = add_lines};

    if (!rq || !rq->r || mk_duda_answer_clear(rq) < 0 ||
        mk_sse_open(rq->r, &options, &rq->events) < 0)
        return -1;
    mk_request_ends_on_hangup(rq->r, true); /* a client that leaves is noticed at once */
    dr->end_callback = callback;
    rq->sr.headers.status = 200;
    rq->has_begun = true;
    mk_duda_request_turn(rq,
                         MK_DUDA_REQUEST_ENDED); /* for response: the stream goes on by itself */
    mk_duda_answer_push(rq);
    return 0;
}

static char *last_id(duda_request_t *dr)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "sse->last_id");
    struct mk_str id = rq && rq->r ? mk_sse_last_id(rq->r) : (struct mk_str){NULL, 0};

    return id.p ? mk_duda_request_copy(rq, id) : NULL;
}

static int send_event(duda_request_t *dr, const char *type, const char *id, const char *data)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "sse->send");
    const struct mk_sse_event event = {.size = sizeof(event),
                                       .type = mk_str_from(type),
                                       .id = mk_str_from(id),
                                       .data = mk_str_from(data)};
    int err = rq && rq->events ? mk_sse_send(rq->events, &event) : MK_E_INVALID;

    return err == MK_E_BUSY ? 1 : err < 0 ? -1 : 0;
}

static int close_stream(duda_request_t *dr)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "sse->close");

    if (!rq || !rq->events)
        return -1;
    mk_sse_close(rq->events);
    return 0;
}

const struct duda_api_sse mk_duda_sse = {
    .open = open_stream, .last_id = last_id, .send = send_event, .close = close_stream};
