/* SPDX-License-Identifier: Apache-2.0 */
#include "server/answer/body.h"

#include "core/fd.h"
#include "server/answer/filter.h"
#include "server/request/job.h"
#include "server/answer/pipe.h"
#include "server/answer/reply.h"
#include "server/answer/out.h"
#include "server/worker/worker.h"

#include <unistd.h>

enum {
    COPY_MAX = 2048,    /* a small body is cheaper copied than described by another part */
    PRODUCE_MAX = 8192, /* asked of a producer at once */
};

static enum mk_pump add_bytes(struct mk_conn *c, const char *bytes, size_t len)
{
    char *to = mk_out_reserve(c, len);

    if (!to)
        return MK_PUMP_CUT;
    memcpy(to, bytes, len);
    mk_out_commit(c, len);
    return MK_PUMP_DONE;
}

static void count(struct mk_request *r, uint64_t n)
{
    r->body_sent += n;
    r->body_left -= n;
}

static void spend(struct mk_conn *c, size_t n, size_t *budget)
{
    *budget -= n < *budget ? n : *budget;
    c->sent += (uint32_t)n;
}

/* ---- parts of a known length: one chunk each ---- */

static enum mk_pump begin_chunk(struct mk_conn *c, struct mk_source *s)
{
    char size[MK_H1_CHUNK_HEAD];

    s->framed = true;
    return add_bytes(c, size, mk_h1_chunk_head(size, s->end - s->at));
}

static enum mk_pump pump_file(struct mk_conn *c, struct mk_source *s, size_t *budget)
{
    const char *body = s->file ? s->file->body : NULL;
    size_t len = (size_t)(s->end - s->at);

    if (s->end - s->at > MK_LIMIT_SMALL_BODY)
        return mk_out_send_file(c, s->fd, &s->at, s->end, budget);
    if (!body)
        return mk_out_read_file(c, s->fd, &s->at, len);
    if (len <= COPY_MAX) {
        if (add_bytes(c, body + s->at, len) != MK_PUMP_DONE)
            return MK_PUMP_CUT;
    } else if (mk_out_add_file_bytes(c, s->file, body + s->at, len)) {
        mk_file_ref(s->file);
    } else {
        return mk_out_send_file(c, s->fd, &s->at, s->end, budget);
    }
    s->at = s->end;
    return MK_PUMP_DONE;
}

static enum mk_pump pump_memory(struct mk_conn *c, struct mk_source *s, size_t *budget)
{
    while (s->at < s->end) {
        size_t len = s->end - s->at < PRODUCE_MAX ? (size_t)(s->end - s->at) : PRODUCE_MAX;
        enum mk_pump verdict;

        if (c->leftover_len > 0)
            return MK_PUMP_READER;
        if (*budget < len)
            return MK_PUMP_TURN;
        verdict = add_bytes(c, s->bytes + s->at, len);
        if (verdict != MK_PUMP_DONE)
            return verdict;
        s->at += len;
        *budget -= len;
    }
    return MK_PUMP_DONE;
}

static enum mk_pump pump_part(struct mk_conn *c, struct mk_request *r, struct mk_source *s,
                              size_t *budget)
{
    uint64_t at = s->at;
    enum mk_pump verdict = MK_PUMP_DONE;

    if (s->end - s->at > r->body_left) {
        s->end = s->at + r->body_left;
        r->overrun = true;
    }
    if (s->at < s->end) {
        if (r->chunked && !s->framed)
            verdict = begin_chunk(c, s);
        if (verdict == MK_PUMP_DONE)
            verdict =
                s->kind == MK_SOURCE_FILE ? pump_file(c, s, budget) : pump_memory(c, s, budget);
        count(r, s->at - at);
    }
    return verdict == MK_PUMP_DONE && s->framed ? add_bytes(c, "\r\n", 2) : verdict;
}

/* ---- what gives bytes as they come ---- */

static ssize_t give(struct mk_request *r, struct mk_source *s, char *dst, size_t len)
{
    ssize_t n = s->kind == MK_SOURCE_PRODUCER ? s->produce(r, s->arg, dst, len)
                                              : mk_pipe_read(s->pipe, dst, len);

    return n > (ssize_t)len
               ? mk_reply_misuse(r, "a producer wrote more than its buffer holds", MK_E_INVALID)
               : n;
}

static enum mk_pump add_piece(struct mk_conn *c, const struct mk_request *r, const char *bytes,
                              size_t n)
{
    char *to = mk_out_reserve(c, MK_H1_CHUNK_HEAD + n + 2);
    size_t at = 0;

    if (!to)
        return MK_PUMP_CUT;
    if (r->chunked)
        at = mk_h1_chunk_head(to, n);
    memcpy(to + at, bytes, n);
    at += n;
    if (r->chunked) {
        memcpy(to + at, "\r\n", 2);
        at += 2;
    }
    mk_out_commit(c, at);
    return MK_PUMP_DONE;
}

/* What was gathered before leaves while the source has nothing. */
static enum mk_pump wait_for_source(struct mk_conn *c)
{
    enum mk_pump verdict = mk_out_flush(c, false);

    return verdict == MK_PUMP_DONE ? MK_PUMP_SOURCE : verdict;
}

/* @return DONE: the peer takes more, and the turn has bytes left for another piece. */
static enum mk_pump may_send_piece(const struct mk_conn *c, size_t budget)
{
    if (c->leftover_len > 0)
        return MK_PUMP_READER;
    return budget < PRODUCE_MAX ? MK_PUMP_TURN : MK_PUMP_DONE;
}

/*
 * A producer may answer other requests too, which uses the gather buffer: what it gives is put there afterwards.
 */
static enum mk_pump pump_given(struct mk_conn *c, struct mk_request *r, struct mk_source *s,
                               size_t *budget)
{
    char piece[PRODUCE_MAX];

    for (;;) {
        enum mk_pump verdict = may_send_piece(c, *budget);
        ssize_t n;

        if (verdict != MK_PUMP_DONE)
            return verdict;
        n = give(r, s, piece, sizeof(piece));
        if (r->failed)
            return MK_PUMP_DONE;
        if (n == MK_E_AGAIN && r->body_left > 0)
            return wait_for_source(c);
        if (n <= 0)
            return n == MK_E_AGAIN ? MK_PUMP_DONE : mk_pump_of_source(n);
        if ((uint64_t)n > r->body_left) {
            n = (ssize_t)r->body_left;
            r->overrun = true;
        }
        if (n > 0) {
            verdict = add_piece(c, r, piece, (size_t)n);
            if (verdict != MK_PUMP_DONE)
                return verdict;
        }
        count(r, (uint64_t)n);
        spend(c, (size_t)n, budget);
        if (r->overrun)
            return MK_PUMP_DONE;
    }
}

static enum mk_pump splice_pipe(struct mk_conn *c, struct mk_request *r, struct mk_source *s,
                                size_t *budget)
{
    enum mk_pump verdict = mk_out_flush(c, mk_pipe_has_bytes(s->pipe));

    while (verdict == MK_PUMP_DONE) {
        size_t want = r->body_left < *budget ? (size_t)r->body_left : *budget, moved;

        if (want == 0 && *budget == 0)
            return MK_PUMP_TURN;
        verdict = mk_pipe_splice(s->pipe, c, want, &moved);
        if (moved == 0)
            return verdict;
        mk_count(&c->worker->counters.bytes_out, moved);
        count(r, moved);
        spend(c, moved, budget);
    }
    return verdict;
}

static enum mk_pump pump_pipe(struct mk_conn *c, struct mk_request *r, struct mk_source *s,
                              size_t *budget)
{
    enum mk_pump verdict;

    if (!s->pipe || r->chunked || !mk_pipe_can_splice(s->pipe, c))
        return s->pipe ? pump_given(c, r, s, budget) : MK_PUMP_DONE;
    if (r->body_left == 0) {
        r->overrun = r->overrun || mk_pipe_has_bytes(s->pipe);
        return MK_PUMP_DONE;
    }
    verdict = splice_pipe(c, r, s, budget);
    return verdict == MK_PUMP_COPY ? pump_given(c, r, s, budget) : verdict;
}

/* What a producer has in a pipe. @return DONE: all of it is out. */
static enum mk_pump splice_filled(struct mk_conn *c, struct mk_request *r, struct mk_source *s,
                                  int fd, size_t n, size_t *budget)
{
    enum mk_pump verdict = mk_out_flush(c, true);

    while (verdict == MK_PUMP_DONE && n > 0) {
        size_t want = n < *budget ? n : *budget;
        ssize_t moved;

        if (want == 0)
            return MK_PUMP_TURN;
        moved = mk_pipe_send(c, fd, want);
        if (moved <= 0)
            return moved == 0 ? MK_PUMP_BROKEN : mk_pump_of_send(moved);
        mk_count(&c->worker->counters.bytes_out, (uint64_t)moved);
        count(r, (uint64_t)moved);
        spend(c, (size_t)moved, budget);
        s->taken += (uint32_t)moved;
        n -= (size_t)moved;
    }
    return verdict;
}

static enum mk_pump pump_filled(struct mk_conn *c, struct mk_request *r, struct mk_source *s,
                                size_t *budget)
{
    for (;;) {
        size_t taken = s->taken;
        enum mk_pump verdict;
        int fd = -1;
        ssize_t n;

        if (c->leftover_len > 0)
            return MK_PUMP_READER;
        s->taken = 0;
        n = s->fill(r, s->arg, taken, &fd);
        if (r->failed)
            return MK_PUMP_DONE;
        if (n == MK_E_AGAIN)
            return wait_for_source(c);
        if (n <= 0)
            return n == MK_E_UNSUPPORTED ? MK_PUMP_COPY : mk_pump_of_source(n);
        if ((uint64_t)n > r->body_left)
            return MK_PUMP_BROKEN;
        verdict = splice_filled(c, r, s, fd, (size_t)n, budget);
        if (verdict != MK_PUMP_DONE)
            return verdict;
    }
}

static enum mk_pump pump_producer(struct mk_conn *c, struct mk_request *r, struct mk_source *s,
                                  size_t *budget)
{
    enum mk_pump verdict = MK_PUMP_COPY;

    if (s->fill && !r->chunked && c->link.transport->is_plain)
        verdict = pump_filled(c, r, s, budget);
    return verdict == MK_PUMP_COPY ? pump_given(c, r, s, budget) : verdict;
}

static void drop_source(struct mk_request *r)
{
    struct mk_source *s = r->first;

    r->first = s->next;
    if (!r->first)
        r->last = NULL;
    if (s->kind == MK_SOURCE_FILE && s->file)
        mk_file_put(s->file);
    else if (s->kind == MK_SOURCE_FILE)
        mk_fd_close(&s->fd);
    else if (s->kind == MK_SOURCE_PIPE)
        mk_pipe_close(s->pipe, r->conn);
}

/* ---- through filters ---- */

static ssize_t read_file(struct mk_source *s, char *dst, size_t len)
{
    ssize_t n = (ssize_t)len;

    if (s->file && s->file->body)
        memcpy(dst, s->file->body + s->at, len);
    else
        n = pread(s->fd, dst, len, (off_t)s->at);
    if (n <= 0)
        return n < 0 ? MK_E_SYS : MK_E_NOENT;
    s->at += (uint64_t)n;
    return n;
}

/* @return as mk_produce_fn. */
static ssize_t read_source(struct mk_request *r, struct mk_source *s, char *dst, size_t len)
{
    size_t part;

    if (s->kind == MK_SOURCE_PRODUCER || s->kind == MK_SOURCE_PIPE)
        return s->pipe || s->kind == MK_SOURCE_PRODUCER ? give(r, s, dst, len) : 0;
    part = s->end - s->at < len ? (size_t)(s->end - s->at) : len;
    if (part == 0)
        return 0;
    if (s->kind == MK_SOURCE_FILE)
        return read_file(s, dst, part);
    memcpy(dst, s->bytes + s->at, part);
    s->at += part;
    return (ssize_t)part;
}

/* What the first filter reads from, and why that gave no bytes. */
struct feed {
    size_t *budget;
    enum mk_pump verdict;
};

/* What is not the filter's to know: MK_E_AGAIN for all waits, MK_E_BAD for all ends. */
static ssize_t give_up_feed(struct feed *feed, enum mk_pump verdict)
{
    feed->verdict = verdict;
    return mk_pump_has_failed(verdict) ? MK_E_BAD : MK_E_AGAIN;
}

/* Of the sources in their order, no more than the head promised. */
static ssize_t read_sources(struct mk_request *r, void *arg, char *dst, size_t len)
{
    struct feed *feed = arg;

    for (; r->first && !r->overrun; drop_source(r)) {
        ssize_t n;

        if (*feed->budget < len)
            return give_up_feed(feed, MK_PUMP_TURN);
        n = read_source(r, r->first, dst, len);
        if (r->failed || (n < 0 && n != MK_E_AGAIN))
            return give_up_feed(feed, n == MK_E_NOENT ? MK_PUMP_TRUNCATED : MK_PUMP_BROKEN);
        if (n == MK_E_AGAIN && r->body_left > 0)
            return give_up_feed(feed, MK_PUMP_SOURCE);
        if (n > 0 && (uint64_t)n > r->body_left) {
            n = (ssize_t)r->body_left;
            r->overrun = true;
        }
        if (n > 0) {
            r->body_left -= (uint64_t)n;
            *feed->budget -= (size_t)n;
            return n;
        }
    }
    return r->waits_in ? give_up_feed(feed, MK_PUMP_DONE) : 0;
}

/* Nothing came out of the filters. */
static enum mk_pump after_empty_pull(struct mk_conn *c, struct mk_request *r, ssize_t n,
                                     enum mk_pump verdict)
{
    if (n == 0 && r->first) /* the filters have enough */
        r->body_left = 0;
    if (n == 0)
        return MK_PUMP_DONE;
    if (n != MK_E_AGAIN && !mk_pump_has_failed(verdict))
        return MK_PUMP_BROKEN; /* a filter failed */
    return verdict == MK_PUMP_SOURCE ? wait_for_source(c) : verdict;
}

static enum mk_pump pump_filtered(struct mk_conn *c, struct mk_request *r, size_t *budget)
{
    struct feed feed = {budget, MK_PUMP_DONE};
    char piece[PRODUCE_MAX];

    for (;;) {
        enum mk_pump verdict = may_send_piece(c, *budget);
        ssize_t n;

        if (verdict != MK_PUMP_DONE)
            return verdict;
        n = mk_filter_pull(r, read_sources, &feed, piece, sizeof(piece));
        if (n <= 0)
            return after_empty_pull(c, r, n, feed.verdict);
        verdict = add_piece(c, r, piece, (size_t)n);
        if (verdict != MK_PUMP_DONE)
            return verdict;
        r->body_sent += (uint64_t)n;
        spend(c, (size_t)n, budget);
    }
}

/* ---- all of them ---- */

static enum mk_pump pump_source(struct mk_conn *c, struct mk_request *r, struct mk_source *s,
                                size_t *budget)
{
    switch (s->kind) {
    case MK_SOURCE_MEMORY:
    case MK_SOURCE_FILE:
        return pump_part(c, r, s, budget);
    case MK_SOURCE_PRODUCER:
        return pump_producer(c, r, s, budget);
    case MK_SOURCE_PIPE:
        return pump_pipe(c, r, s, budget);
    }
    return MK_PUMP_BROKEN;
}

void mk_body_drop(struct mk_request *r)
{
    while (r->first)
        drop_source(r);
}

/* RFC 9112 section 7.1: the last chunk, trailers, and an empty line. */
static enum mk_pump end_chunks(struct mk_conn *c, const struct mk_request *r)
{
    enum mk_pump verdict = add_bytes(c, "0\r\n", 3);

    for (const struct mk_trailer *t = r->trailer; t && verdict == MK_PUMP_DONE; t = t->next)
        verdict = add_bytes(c, t->line.p, t->line.len);
    return verdict == MK_PUMP_DONE ? add_bytes(c, "\r\n", 2) : verdict;
}

/* A length that was promised and not kept: the peer can only tell by the end of the connection. */
static void judge_length(struct mk_request *r)
{
    if (r->overrun)
        (void)mk_reply_misuse(r, "a longer body than its head promised; clipped", 0);
    else if (r->promised && r->body_left > 0)
        (void)mk_reply_misuse(r, "a shorter body than its head promised", 0);
}

static enum mk_pump end_body(struct mk_conn *c, struct mk_request *r)
{
    r->ended = true;
    if (r->head_only)
        return MK_PUMP_DONE;
    if (r->overrun || r->body_left > 0)
        judge_length(r);
    return r->chunked && !r->failed ? end_chunks(c, r) : MK_PUMP_DONE;
}

enum mk_pump mk_body_pump(struct mk_conn *c, struct mk_request *r, size_t *budget)
{
    enum mk_pump verdict = r->filter && !r->ended ? pump_filtered(c, r, budget) : MK_PUMP_DONE;

    while (verdict == MK_PUMP_DONE && r->first && !r->failed && !r->filter) {
        verdict = pump_source(c, r, r->first, budget);
        if (verdict == MK_PUMP_DONE)
            drop_source(r);
    }
    if (r->failed || (verdict == MK_PUMP_DONE && r->filter && !r->waits_in))
        mk_body_drop(r);
    if (verdict == MK_PUMP_DONE && !r->failed && r->head_done && !r->ended && !r->waits_in)
        verdict = end_body(c, r);
    return verdict;
}

bool mk_body_is_tail(const struct mk_request *r)
{
    const struct mk_source *s = r->first;

    return s && !s->next && s->kind == MK_SOURCE_FILE && s->file && !r->chunked && !r->filter &&
           !r->failed && !r->overrun && (!r->promised || r->body_left == s->end - s->at);
}
