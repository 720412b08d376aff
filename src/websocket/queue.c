/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/ws_int.h"

#include <stdlib.h>
#include <sys/uio.h>

/* Frames that wait for a slow reader: bounded, in order. Without any there is no queue, and frames leave at once. */

enum {
    PARTS = 16,
    /* Small messages cost more than their bytes: so many of max_queue are worth one that waits, beside the first few. */
    BYTES_A_MESSAGE = 32,
    FIRST_MESSAGES = 16,
};

struct chunk {
    struct chunk *next;
    struct ws_frame *frame;
    bool is_control;
};

struct ws_queue {
    struct chunk *first, **last;
    size_t at;    /* bytes of the first that were sent */
    size_t bytes; /* that wait, of messages and control frames */
    size_t own;   /* bytes of frames that no other connection has */
    size_t nmessages;
    bool has_held; /* a message waited here, so its sender awaits on_drain */
};

/* ---- frames ---- */

static struct ws_frame *frame_of(const void *head, size_t nhead, struct mk_str payload)
{
    struct ws_frame *frame = malloc(sizeof(*frame) + nhead + payload.len);

    if (!frame)
        return NULL;
    counted_init(&frame->refs, 1);
    frame->is_own = false;
    frame->len = nhead + payload.len;
    frame->nhead = (uint8_t)nhead;
    memcpy(frame->bytes, head, nhead);
    if (payload.len > 0)
        memcpy(frame->bytes + nhead, payload.p, payload.len);
    return frame;
}

struct ws_frame *ws_frame_new(enum ws_opcode opcode, struct mk_str payload)
{
    uint8_t head[WS_SENT_HEAD_MAX];

    return frame_of(head, ws_frame_head(head, opcode, false, payload.len), payload);
}

struct ws_frame *ws_frame_packed(enum ws_opcode opcode, struct mk_str payload)
{
    uint8_t head[WS_SENT_HEAD_MAX];

    return frame_of(head, ws_frame_head(head, opcode, true, payload.len), payload);
}

void ws_frame_put(struct ws_frame *frame)
{
    if (counted_put(&frame->refs))
        free(frame);
}

/* ---- the queue ---- */

static struct ws_queue *queue_of(struct mk_ws *ws)
{
    if (ws->queue)
        return ws->queue;
    ws->queue = calloc(1, sizeof(*ws->queue));
    if (ws->queue)
        ws->queue->last = &ws->queue->first;
    return ws->queue;
}

/* @return where the chunk stood. */
static struct chunk **unlink_chunk(struct ws_queue *q, struct chunk **at)
{
    struct chunk *chunk = *at;

    *at = chunk->next;
    if (!chunk->next)
        q->last = at;
    q->bytes -= chunk->frame->len;
    q->own -= chunk->frame->is_own ? chunk->frame->len : 0;
    if (!chunk->is_control)
        q->nmessages--;
    ws_frame_put(chunk->frame);
    free(chunk);
    return at;
}

/* The first place behind a frame that is sent in part. */
static struct chunk **unsent(struct ws_queue *q)
{
    return q->first && q->at > 0 ? &q->first->next : &q->first;
}

/* @param sent  bytes of the frame that have left; only where the queue is empty. @return 0 or MK_E_NOMEM. */
static int put(struct mk_ws *ws, struct ws_frame *frame, size_t sent, bool is_control, bool is_next)
{
    struct chunk *chunk = malloc(sizeof(*chunk));
    struct ws_queue *q = chunk ? queue_of(ws) : NULL;
    struct chunk **at;

    if (!q) {
        free(chunk);
        return MK_E_NOMEM;
    }
    at = is_next ? unsent(q) : q->last;
    counted_get(&frame->refs);
    *chunk = (struct chunk){*at, frame, is_control};
    *at = chunk;
    if (!chunk->next)
        q->last = &chunk->next;
    q->bytes += frame->len;
    q->own += frame->is_own ? frame->len : 0;
    if (sent > 0)
        q->at = sent;
    if (!is_control) {
        q->nmessages++;
        q->has_held = true;
        ws->is_drained = false;
    }
    return 0;
}

void ws_queue_clear(struct mk_ws *ws)
{
    struct ws_queue *q = ws->queue;

    for (struct chunk **at = q ? unsent(q) : NULL; at && *at;)
        at = unlink_chunk(q, at);
    ws_book(ws);
}

void ws_queue_free(struct mk_ws *ws)
{
    struct ws_queue *q = ws->queue;

    while (q && q->first)
        (void)unlink_chunk(q, &q->first);
    free(q);
    ws->queue = NULL;
}

/* ---- sending ---- */

/* @return bytes that left; MK_E_AGAIN is none; < 0: broken. */
static ssize_t write_now(struct mk_ws *ws, const struct iovec *parts, int nparts)
{
    ssize_t n = mk_stream_write(ws->stream, parts, nparts);

    if (n == MK_E_AGAIN)
        return 0;
    if (n < 0)
        ws_break(ws, MK_WS_ABNORMAL);
    return n;
}

/* Bytes of frames have left. */
static void advance(struct ws_queue *q, size_t n)
{
    while (n > 0 && q->first) {
        const size_t left = q->first->frame->len - q->at;

        if (n < left) {
            q->at += n;
            return;
        }
        n -= left;
        q->at = 0;
        (void)unlink_chunk(q, &q->first);
    }
}

void ws_queue_flush(struct mk_ws *ws)
{
    struct ws_queue *q = ws->queue;

    while (q && q->first && ws->state != WS_OVER) {
        struct iovec parts[PARTS];
        size_t wanted = 0, at = q->at;
        ssize_t n;
        int count = 0;

        for (struct chunk *c = q->first; c && count < PARTS; c = c->next, at = 0) {
            parts[count++] = (struct iovec){c->frame->bytes + at, c->frame->len - at};
            wanted += c->frame->len - at;
        }
        n = write_now(ws, parts, count);
        if (n <= 0)
            return;
        advance(q, (size_t)n);
        if ((size_t)n < wanted)
            return;
    }
    if (q && !q->first) {
        ws->is_drained = ws->is_drained || q->has_held;
        ws_queue_free(ws);
    }
}

/* ---- the policy ---- */

/* A message that waits for no other one has room, however large it is: the application has it in memory already. */
static bool has_room(const struct ws_queue *q, size_t len, size_t max)
{
    if (q->nmessages == 0)
        return true;
    return q->bytes - q->at + len <= max && q->nmessages < max / BYTES_A_MESSAGE + FIRST_MESSAGES;
}

static void drop_old(struct ws_queue *q, size_t len, size_t max)
{
    struct chunk **at = unsent(q);

    while (*at && !has_room(q, len, max))
        if ((*at)->is_control)
            at = &(*at)->next;
        else
            at = unlink_chunk(q, at);
}

/* @return 0: the frame may wait. */
static int make_room(struct mk_ws *ws, size_t len)
{
    const size_t max = ws_max(ws->spec->max_queue, MK_WS_DEFAULT_MAX);
    struct ws_queue *q = ws->queue;

    if (!q || has_room(q, len, max))
        return 0;
    if (ws->spec->policy == MK_WS_DROP_OLD)
        drop_old(q, len, max);
    else if (ws->spec->policy == MK_WS_CLOSE) {
        ws_queue_clear(ws);
        mk_ws_close(ws, MK_WS_TRY_LATER, MK_STR("the reader is too slow"));
        return MK_E_BUSY;
    }
    return has_room(q, len, max) ? 0 : MK_E_BUSY;
}

size_t ws_queue_own(const struct mk_ws *ws)
{
    return ws->queue ? ws->queue->own : 0;
}

static ssize_t waiting(const struct mk_ws *ws)
{
    return ws->queue ? (ssize_t)(ws->queue->bytes - ws->queue->at) : 0;
}

static int may_send(struct mk_ws *ws, size_t len)
{
    return ws->state > WS_OPEN ? MK_E_PEER : make_room(ws, len);
}

ssize_t ws_queue_send(struct mk_ws *ws, struct ws_frame *frame)
{
    ssize_t sent = 0;
    int err = may_send(ws, frame->len);

    if (err < 0)
        return err;
    if (!ws->queue) {
        const struct iovec part = {frame->bytes, frame->len};

        sent = write_now(ws, &part, 1);
    }
    if (sent < 0)
        return MK_E_PEER;
    if ((size_t)sent < frame->len && put(ws, frame, (size_t)sent, false, false) < 0) {
        if (sent > 0) /* nobody can send the rest any more */
            ws_break(ws, MK_WS_INTERNAL);
        return MK_E_NOMEM;
    }
    return waiting(ws);
}

/* What did not leave at once waits in a frame of its own. */
static ssize_t keep_rest(struct mk_ws *ws, const uint8_t *head, size_t nhead, struct mk_str payload,
                         size_t sent)
{
    struct ws_frame *frame = frame_of(head, nhead, payload);
    int err = MK_E_NOMEM;

    if (frame) {
        frame->is_own = true;
        err = put(ws, frame, sent, false, false);
        ws_frame_put(frame);
        ws_book(ws);
    }
    if (err < 0 && sent > 0)
        ws_break(ws, MK_WS_INTERNAL);
    return err < 0 ? err : waiting(ws);
}

static ssize_t send_parts(struct mk_ws *ws, const uint8_t *head, size_t nhead,
                          struct mk_str payload)
{
    ssize_t sent = 0;

    if (!ws->queue) {
        union {
            const void *from;
            void *to;
        } parts[] = {{head}, {payload.p}};
        const struct iovec iov[] = {{parts[0].to, nhead}, {parts[1].to, payload.len}};

        sent = write_now(ws, iov, payload.len > 0 ? 2 : 1);
    }
    if (sent < 0)
        return MK_E_PEER;
    return (size_t)sent == nhead + payload.len ? 0
                                               : keep_rest(ws, head, nhead, payload, (size_t)sent);
}

bool ws_is_packed(const struct mk_ws *ws, size_t len)
{
    return ws->pack && len >= ws_max(ws->spec->deflate_min, MK_WS_DEFAULT_DEFLATE_MIN);
}

/* After the policy: what is compressed is sent, since what comes next may refer to it. */
static ssize_t send_packed(struct mk_ws *ws, enum ws_opcode opcode, struct mk_str packed)
{
    uint8_t head[WS_SENT_HEAD_MAX];
    ssize_t sent = send_parts(ws, head, ws_frame_head(head, opcode, true, packed.len), packed);

    if (sent < 0)
        ws_pack_forget(ws->pack);
    return sent;
}

ssize_t ws_queue_send_message(struct mk_ws *ws, enum ws_opcode opcode, struct mk_str message)
{
    uint8_t head[WS_SENT_HEAD_MAX];
    const size_t nhead = ws_frame_head(head, opcode, false, message.len);
    int err = may_send(ws, nhead + message.len);
    struct mk_str packed;
    ssize_t sent;

    if (err < 0)
        return err;
    if (!ws_is_packed(ws, message.len) || !ws_pack_message(ws->pack, message, &packed))
        return send_parts(ws, head, nhead, message);
    sent = send_packed(ws, opcode, packed);
    ws_pack_drop(packed);
    return sent;
}

ssize_t ws_queue_send_framed(struct mk_ws *ws, struct ws_frame *frame)
{
    const struct mk_str message = ws_frame_payload(frame);

    return ws_is_packed(ws, message.len)
               ? ws_queue_send_message(ws, ws_frame_opcode(frame), message)
               : ws_queue_send(ws, frame);
}

/* Section 5.5.3: of several pings the last may be answered alone, so pongs of a peer that reads nothing take no memory. */
static void drop_control(struct mk_ws *ws)
{
    struct ws_queue *q = ws->queue;

    for (struct chunk **at = q ? unsent(q) : NULL; at && *at;)
        at = (*at)->is_control ? unlink_chunk(q, at) : &(*at)->next;
}

int ws_queue_control(struct mk_ws *ws, enum ws_opcode opcode, struct mk_str payload)
{
    struct ws_frame *frame = ws_frame_new(opcode, payload);
    int err;

    if (!frame)
        return MK_E_NOMEM;
    drop_control(ws);
    err = put(ws, frame, 0, true, opcode != WS_CLOSE);
    if (err == 0)
        ws_queue_flush(ws);
    ws_frame_put(frame); /* the queue has its own. NOLINT(clang-analyzer-unix.Malloc) */
    return err;
}

ssize_t mk_ws_send(struct mk_ws *ws, enum mk_ws_kind kind, struct mk_str message)
{
    return ws ? ws_queue_send_message(ws, kind == MK_WS_TEXT ? WS_TEXT : WS_BINARY, message)
              : MK_E_INVALID;
}
