/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/client/http_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The request of a call on its way out: head, and a body from memory or from the service. */

static bool asks(const struct http_call *c)
{
    return c->q.has_body && !c->q.body;
}

static int write_head(struct http_call *c)
{
    int64_t length = (int64_t)c->q.body_len;

    if (asks(c))
        length = c->o.length > 0 ? (int64_t)c->o.length : -1;
    c->out.head = http_request_head(&c->q, length, &c->out.head_len);
    return c->out.head ? HTTP_WAITS
                       : http_call_fail(c, DUDA_HTTP_NO_ROOM, mk_error_text(MK_E_NOMEM));
}

/* ---- the service's body ---- */

static long ask(struct http_call *c, char *bytes, size_t size)
{
    struct mk_duda_visit *v = c->visit;
    struct mk_duda_here before = http_visit_enter(v, c->seat);
    long n;

    c->is_inside = c->out.has_asked = true;
    n = c->o.more(http_call_dr(c), bytes, size, c->arg);
    c->is_inside = false;
    http_visit_leave(v, before);
    return n;
}

/* "4000\r\n" before the bytes, and a line end after them. */
static void frame(struct http_sending *out, size_t n)
{
    char size[HTTP_FRAME];
    const int len = snprintf(size, sizeof(size), "%zx\r\n", n);

    out->piece_at = HTTP_FRAME - (size_t)len;
    memcpy(out->piece + out->piece_at, size, (size_t)len);
    memcpy(out->piece + HTTP_FRAME + n, "\r\n", 2);
    out->piece_len = HTTP_FRAME + n + 2;
}

static int end_body(struct http_call *c)
{
    struct http_sending *out = &c->out;

    out->has_ended = true;
    if (out->given < c->o.length)
        return http_call_fail(c, DUDA_HTTP_STOPPED, "more() gave less than `length` bytes");
    if (c->o.length > 0)
        return HTTP_WAITS;
    memcpy(out->piece, "0\r\n\r\n", 5);
    out->piece_at = 0;
    out->piece_len = 5;
    return HTTP_WAITS;
}

/* Get the next piece. @return HTTP_WAITS: go on with what there is */
static int next_piece(struct http_call *c)
{
    struct http_sending *out = &c->out;
    long n;

    if (!out->piece)
        out->piece = malloc(HTTP_FRAME + HTTP_PIECE + 2);
    if (!out->piece)
        return http_call_fail(c, DUDA_HTTP_NO_ROOM, mk_error_text(MK_E_NOMEM));
    n = ask(c, out->piece + HTTP_FRAME, HTTP_PIECE);
    if (c->state == HTTP_CALL_OVER)
        return HTTP_GONE;
    if (n == DUDA_HTTP_LATER) {
        out->is_late = true;
        return HTTP_WAITS;
    }
    if (n < 0 || n > HTTP_PIECE)
        return http_call_fail(c, DUDA_HTTP_STOPPED, "more() has failed");
    if (n == 0)
        return end_body(c);
    out->given += (uint64_t)n;
    if (c->o.length == 0) {
        frame(out, (size_t)n);
        return HTTP_WAITS;
    }
    if (out->given > c->o.length)
        return http_call_fail(c, DUDA_HTTP_STOPPED, "more() gave more than `length` bytes");
    out->piece_at = HTTP_FRAME;
    out->piece_len = HTTP_FRAME + (size_t)n;
    return HTTP_WAITS;
}

/* ---- writing ---- */

static size_t skip(size_t *at, size_t len, size_t n)
{
    const size_t step = len - *at < n ? len - *at : n;

    *at += step;
    return n - step;
}

/* @return whether anything is left to write */
static int parts_left(const struct http_call *c, struct iovec iov[2])
{
    const struct http_sending *out = &c->out;
    int n = 0;

    if (out->head_at < out->head_len)
        iov[n++] = (struct iovec){out->head + out->head_at, out->head_len - out->head_at};
    if (c->q.has_body && out->body_at < c->q.body_len)
        iov[n++] = (struct iovec){c->q.body + out->body_at, c->q.body_len - out->body_at};
    else if (out->piece_at < out->piece_len)
        iov[n++] = (struct iovec){out->piece + out->piece_at, out->piece_len - out->piece_at};
    return n;
}

static void count(struct http_call *c, size_t n)
{
    struct http_sending *out = &c->out;

    n = skip(&out->head_at, out->head_len, n);
    if (c->q.has_body)
        n = skip(&out->body_at, c->q.body_len, n);
    (void)skip(&out->piece_at, out->piece_len, n);
}

/* @return HTTP_AGAIN: the next piece is wanted; HTTP_WAITS: the connection takes no more */
static int write_parts(struct http_call *c)
{
    struct iovec iov[2];
    int niov;

    while ((niov = parts_left(c, iov)) > 0) {
        const ssize_t n = mk_stream_write(c->s, iov, niov);

        if (n == MK_E_AGAIN)
            return HTTP_WAITS;
        if (n < 0) { /* perhaps its answer came before: 413, for example */
            c->out.is_broken = true;
            return HTTP_WAITS;
        }
        count(c, (size_t)n);
    }
    return HTTP_AGAIN;
}

int http_call_send(struct http_call *c)
{
    int step = c->out.head ? HTTP_WAITS : write_head(c);

    if (step != HTTP_WAITS || c->out.is_whole || c->out.is_broken || c->out.is_late)
        return step;
    for (unsigned round = 0; round < HTTP_ROUNDS_MAX; round++) {
        step = write_parts(c);
        if (step != HTTP_AGAIN)
            return step;
        if (!asks(c) || c->out.has_ended) {
            c->out.is_whole = true;
            return HTTP_WAITS;
        }
        step = next_piece(c);
        if (step != HTTP_WAITS || c->out.is_late)
            return step;
    }
    return HTTP_AGAIN;
}

void http_sending_fini(struct http_sending *out)
{
    free(out->head);
    free(out->piece);
    *out = (struct http_sending){.head = NULL};
}
