/* SPDX-License-Identifier: Apache-2.0 */
#include "server/answer/body.h"

#include "core/fd.h"
#include "http/escape.h"
#include "server/answer/filter.h"
#include "server/answer/misuse.h"
#include "server/answer/pipe.h"
#include "server/answer/reply.h"
#include "server/files/files.h"
#include "server/request/request_state.h"
#include "server/request/wire.h"
#include "server/worker/worker.h"

#include <unistd.h>

enum { PRODUCE_MAX = 8192 }; /* asked of a producer at once */

static void count(struct mk_request *r, uint64_t n)
{
    r->body_sent += n;
    r->body_left -= n;
}

static void spend(size_t n, size_t *budget)
{
    *budget -= n < *budget ? n : *budget;
}

void mk_body_log_truncated(struct mk_worker *w, uint64_t id, const struct mk_file *file)
{
    enum { PATH_SHOWN = 256 };
    char path[PATH_SHOWN * MK_ESCAPE_URI_GROWTH];
    struct mk_str shown = file ? file->path : (struct mk_str){"", 0};

    if (shown.len > PATH_SHOWN)
        shown.len = PATH_SHOWN;
    mk_log_peer(mk_worker_log(w), MK_LOG_WARN, MK_LOG_FILE,
                "file became shorter while it was sent conn=%llu root=%s path=\"%.*s\"",
                (unsigned long long)id, file ? file->root->path : "",
                (int)mk_escape_path(path, shown), path);
}

static enum mk_pump pump_part(struct mk_request *r, struct mk_source *s, size_t *budget)
{
    uint64_t at = s->at;
    enum mk_pump verdict;

    if (s->end - s->at > r->body_left) {
        s->end = s->at + r->body_left;
        r->overrun = true;
    }
    if (s->at == s->end && !s->framed)
        return MK_PUMP_DONE;
    verdict = r->wire->send_part(r, s, budget);
    if (MK_UNLIKELY(verdict == MK_PUMP_TRUNCATED))
        mk_body_log_truncated(r->worker, r->id, s->file);
    count(r, s->at - at);
    return verdict;
}

/* ---- what gives bytes as they come ---- */

static ssize_t give(struct mk_request *r, struct mk_source *s, char *dst, size_t len)
{
    ssize_t n = s->kind == MK_SOURCE_PRODUCER ? s->produce(r, s->arg, dst, len)
                                              : mk_pipe_read(s->pipe, dst, len);

    return n > (ssize_t)len
               ? mk_misuse_log(r, "a producer wrote more than its buffer holds", MK_E_INVALID)
               : n;
}

/* What was gathered before leaves while the source has nothing. */
static enum mk_pump wait_for_source(struct mk_request *r)
{
    enum mk_pump verdict = r->wire->flush(r, false);

    return verdict == MK_PUMP_DONE ? MK_PUMP_SOURCE : verdict;
}

/* @return DONE: the peer takes more, and the turn has bytes left for another piece. */
static enum mk_pump may_send_piece(const struct mk_request *r, size_t budget)
{
    enum mk_pump verdict = r->wire->may_send(r);

    return verdict == MK_PUMP_DONE && budget < PRODUCE_MAX ? MK_PUMP_TURN : verdict;
}

/* A producer may answer other requests too: what it gives is sent afterwards. */
static enum mk_pump pump_given(struct mk_request *r, struct mk_source *s, size_t *budget)
{
    char piece[PRODUCE_MAX];

    for (;;) {
        enum mk_pump verdict = may_send_piece(r, *budget);
        ssize_t n;

        if (verdict != MK_PUMP_DONE)
            return verdict;
        n = give(r, s, piece, sizeof(piece));
        if (mk_answering_is_broken(r))
            return MK_PUMP_DONE;
        if (n == MK_E_AGAIN && r->body_left > 0)
            return wait_for_source(r);
        if (n <= 0)
            return n == MK_E_AGAIN ? MK_PUMP_DONE : mk_pump_of_source(n);
        if ((uint64_t)n > r->body_left) {
            n = (ssize_t)r->body_left;
            r->overrun = true;
        }
        if (n > 0) {
            verdict = r->wire->send_piece(r, piece, (size_t)n);
            if (verdict != MK_PUMP_DONE)
                return verdict;
        }
        count(r, (uint64_t)n);
        spend((size_t)n, budget);
        if (r->overrun)
            return MK_PUMP_DONE;
    }
}

static enum mk_pump splice_pipe(struct mk_request *r, struct mk_source *s, size_t *budget)
{
    enum mk_pump verdict = r->wire->flush(r, mk_pipe_has_bytes(s->pipe));

    while (verdict == MK_PUMP_DONE) {
        size_t want = r->body_left < *budget ? (size_t)r->body_left : *budget, moved;

        if (want == 0 && *budget == 0)
            return MK_PUMP_TURN;
        verdict = mk_pipe_splice(s->pipe, want, &moved);
        if (moved == 0)
            return verdict;
        count(r, moved);
        spend(moved, budget);
    }
    return verdict;
}

static enum mk_pump pump_pipe(struct mk_request *r, struct mk_source *s, size_t *budget)
{
    enum mk_pump verdict;

    if (!s->pipe || !mk_pipe_can_splice(s->pipe))
        return s->pipe ? pump_given(r, s, budget) : MK_PUMP_DONE;
    if (r->body_left == 0) {
        r->overrun = r->overrun || mk_pipe_has_bytes(s->pipe);
        return MK_PUMP_DONE;
    }
    verdict = splice_pipe(r, s, budget);
    return verdict == MK_PUMP_COPY ? pump_given(r, s, budget) : verdict;
}

/* What a producer has in a pipe. @return DONE: all of it is out. */
static enum mk_pump splice_filled(struct mk_request *r, struct mk_source *s, int fd, size_t n,
                                  size_t *budget)
{
    enum mk_pump verdict = r->wire->flush(r, true);

    while (verdict == MK_PUMP_DONE && n > 0) {
        size_t want = n < *budget ? n : *budget, moved;

        if (want == 0)
            return MK_PUMP_TURN;
        verdict = r->wire->splice(r, fd, want, &moved);
        if (moved == 0)
            return verdict == MK_PUMP_DONE   ? MK_PUMP_BROKEN
                   : verdict == MK_PUMP_COPY ? MK_PUMP_CUT /* of which some may be out */
                                             : verdict;
        count(r, moved);
        spend(moved, budget);
        s->taken += (uint32_t)moved;
        n -= moved;
    }
    return verdict;
}

static enum mk_pump pump_filled(struct mk_request *r, struct mk_source *s, size_t *budget)
{
    for (;;) {
        size_t taken = s->taken;
        enum mk_pump verdict;
        int fd = -1;
        ssize_t n;

        if (r->wire->may_send(r) != MK_PUMP_DONE)
            return MK_PUMP_READER;
        s->taken = 0;
        n = s->fill(r, s->arg, taken, &fd);
        if (mk_answering_is_broken(r))
            return MK_PUMP_DONE;
        if (n == MK_E_AGAIN)
            return wait_for_source(r);
        if (n <= 0)
            return n == MK_E_UNSUPPORTED ? MK_PUMP_COPY : mk_pump_of_source(n);
        if ((uint64_t)n > r->body_left)
            return MK_PUMP_BROKEN;
        verdict = splice_filled(r, s, fd, (size_t)n, budget);
        if (verdict != MK_PUMP_DONE)
            return verdict;
    }
}

static enum mk_pump pump_producer(struct mk_request *r, struct mk_source *s, size_t *budget)
{
    enum mk_pump verdict = MK_PUMP_COPY;

    if (s->fill && r->wire->can_splice && r->wire->can_splice(r))
        verdict = pump_filled(r, s, budget);
    return verdict == MK_PUMP_COPY ? pump_given(r, s, budget) : verdict;
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
        mk_pipe_close(s->pipe);
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

/* For filters: MK_E_BUSY when only the turn is over, MK_E_AGAIN for other waits, MK_E_BAD for all ends. */
static ssize_t give_up_feed(struct feed *feed, enum mk_pump verdict)
{
    feed->verdict = verdict;
    if (verdict == MK_PUMP_TURN)
        return MK_E_BUSY;
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
        if (n == MK_E_NOENT && r->first->kind == MK_SOURCE_FILE)
            mk_body_log_truncated(r->worker, r->id, r->first->file);
        if (mk_answering_is_broken(r) || (n < 0 && n != MK_E_AGAIN))
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
    return mk_asking_is_parked(r) ? give_up_feed(feed, MK_PUMP_DONE) : 0;
}

/* Nothing came out of the filters. */
static enum mk_pump after_empty_pull(struct mk_request *r, ssize_t n, enum mk_pump verdict)
{
    if (n == 0 && r->first) /* the filters have enough */
        r->body_left = 0;
    if (n == 0)
        return MK_PUMP_DONE;
    if (n == MK_E_BAD && !mk_pump_has_failed(verdict))
        return MK_PUMP_BROKEN; /* a filter failed */
    return verdict == MK_PUMP_SOURCE ? wait_for_source(r) : verdict;
}

static enum mk_pump pump_filtered(struct mk_request *r, size_t *budget)
{
    struct feed feed = {budget, MK_PUMP_DONE};
    char piece[PRODUCE_MAX];

    for (;;) {
        enum mk_pump verdict = may_send_piece(r, *budget);
        ssize_t n;

        if (verdict != MK_PUMP_DONE)
            return verdict;
        n = mk_filter_pull(r, read_sources, &feed, piece, sizeof(piece));
        if (n <= 0)
            return after_empty_pull(r, n, feed.verdict);
        verdict = r->wire->send_piece(r, piece, (size_t)n);
        if (verdict != MK_PUMP_DONE)
            return verdict;
        r->body_sent += (uint64_t)n;
        spend((size_t)n, budget);
    }
}

/* ---- all of them ---- */

static enum mk_pump pump_source(struct mk_request *r, struct mk_source *s, size_t *budget)
{
    switch (s->kind) {
    case MK_SOURCE_MEMORY:
    case MK_SOURCE_FILE:
        return pump_part(r, s, budget);
    case MK_SOURCE_PRODUCER:
        return pump_producer(r, s, budget);
    case MK_SOURCE_PIPE:
        return pump_pipe(r, s, budget);
    }
    return MK_PUMP_BROKEN;
}

void mk_body_drop(struct mk_request *r)
{
    while (r->first)
        drop_source(r);
}

static bool has_promise(const struct mk_request *r)
{
    return r->body_left <= INT64_MAX;
}

/* A length that was promised and not kept: the peer can only tell by the end of the connection. */
static void judge_length(struct mk_request *r)
{
    if (r->overrun)
        (void)mk_misuse_log(r, "a longer body than its head promised; clipped", 0);
    else if (has_promise(r) && r->body_left > 0)
        (void)mk_misuse_log(r, "a shorter body than its head promised", 0);
}

static enum mk_pump end_body(struct mk_request *r)
{
    mk_answering_change(r, MK_ANSWERING_ENDED);
    if (r->framing == MK_FRAMING_ABSENT)
        return MK_PUMP_DONE;
    if (r->overrun || r->body_left > 0)
        judge_length(r);
    return mk_answering_is_broken(r) ? MK_PUMP_DONE : r->wire->end_body(r);
}

enum mk_pump mk_body_pump(struct mk_request *r, size_t *budget)
{
    enum mk_pump verdict = MK_PUMP_DONE;

    if (r->answering == MK_ANSWERING_STARVED)
        mk_answering_go(r, MK_ANSWERING_BODY);
    if (r->filter && r->answering < MK_ANSWERING_ENDED)
        verdict = pump_filtered(r, budget);
    while (verdict == MK_PUMP_DONE && r->first && !mk_answering_is_broken(r) && !r->filter) {
        verdict = pump_source(r, r->first, budget);
        if (verdict == MK_PUMP_DONE)
            drop_source(r);
    }
    if (mk_answering_is_broken(r) ||
        (verdict == MK_PUMP_DONE && r->filter && !mk_asking_is_parked(r)))
        mk_body_drop(r);
    if (r->answering != MK_ANSWERING_BODY)
        return verdict;
    if (verdict == MK_PUMP_DONE && !mk_asking_is_parked(r))
        return end_body(r);
    if (verdict == MK_PUMP_SOURCE)
        mk_answering_go(r, MK_ANSWERING_STARVED);
    return verdict;
}

void mk_body_gather(struct mk_request *r, size_t room)
{
    struct mk_source *s = r->first;

    if (s && s->kind == MK_SOURCE_MEMORY && s->end - s->at <= room && !r->filter &&
        r->answering == MK_ANSWERING_BODY)
        (void)pump_part(r, s, &room); /* what is wrong with it is seen in its own turn */
}

bool mk_body_is_tail(const struct mk_request *r)
{
    const struct mk_source *s = r->first;

    return s && !s->next && s->kind == MK_SOURCE_FILE && s->file &&
           r->framing != MK_FRAMING_CHUNKS && !r->filter && r->answering == MK_ANSWERING_BODY &&
           !r->overrun && (!has_promise(r) || r->body_left == s->end - s->at);
}
