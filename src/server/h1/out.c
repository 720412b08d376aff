/* SPDX-License-Identifier: Apache-2.0 */
#include "server/h1/out.h"

#include "base/invariant.h"
#include "base/heap.h"
#include "server/answer/body.h"
#include "server/h1/job.h"
#include "server/request/request_state.h"
#include "server/worker/worker.h"

#include <sys/socket.h>
#include <unistd.h>

static struct mk_gather *gather_of(const struct mk_conn *c)
{
    return c->worker->gather;
}

static void reset_gather(struct mk_gather *g)
{
    for (int i = 0; i < g->nfiles; i++)
        mk_file_put(g->files[i]);
    g->head = NULL;
    g->bytes = g->used = 0;
    g->nparts = g->nfiles = 0;
}

static bool has_gathered(const struct mk_conn *c)
{
    const struct mk_gather *g = gather_of(c);

    return g->bytes > 0 && g->owner == c;
}

bool mk_out_is_pending(const struct mk_conn *c)
{
    return has_gathered(c) || c->leftover_len > 0 || c->tail;
}

/* Keep what the kernel did not take: all gathered bytes after the first skip. */
static enum mk_pump keep_leftover(struct mk_conn *c, size_t skip)
{
    struct mk_gather *g = gather_of(c);
    size_t len = c->leftover_len, more = g->bytes - skip;
    char *p = mk_heap_alloc(len + more);

    if (!p) {
        reset_gather(g);
        return MK_PUMP_NO_MEMORY;
    }
    if (len > 0)
        memcpy(p, c->leftover + c->leftover_at, len);
    for (int i = 0; i < g->nparts; i++) {
        size_t drop = skip < g->parts[i].iov_len ? skip : g->parts[i].iov_len;

        memcpy(p + len, (char *)g->parts[i].iov_base + drop, g->parts[i].iov_len - drop);
        len += g->parts[i].iov_len - drop;
        skip -= drop;
    }
    mk_heap_free(c->leftover);
    c->leftover = p;
    c->leftover_at = 0;
    c->leftover_len = (uint32_t)len;
    reset_gather(g);
    return MK_PUMP_READER;
}

enum mk_pump mk_out_flush(struct mk_conn *c, bool more)
{
    struct mk_gather *g = gather_of(c);
    ssize_t n;

    if (!has_gathered(c))
        return c->leftover_len > 0 ? MK_PUMP_READER : MK_PUMP_DONE;
    if (c->leftover_len > 0)
        return keep_leftover(c, 0);
    n = c->link.transport->send(&c->link, g->parts, g->nparts, more);
    if (n < 0 && n != MK_E_AGAIN) {
        reset_gather(g);
        return mk_pump_of_send(n);
    }
    if (n > 0)
        mk_count(&c->worker->counters.bytes_out, (uint64_t)n);
    if ((size_t)n == g->bytes) {
        reset_gather(g);
        return MK_PUMP_DONE;
    }
    return keep_leftover(c, n > 0 ? (size_t)n : 0);
}

enum { CHUNK_ROOM = 64 }; /* for the lines of a chunk */

/*
 * What a connection gathered leaves before another gathers. With a short body that waits for the connection's turn, the
 * answers that a backend's event brings at once take one call and one packet each.
 */
static void __attribute__((noinline)) flush_other(struct mk_conn *other)
{
    const struct mk_gather *g = gather_of(other);

    if (other->job && other->job->request.view && g->used + CHUNK_ROOM < sizeof(g->buf) &&
        g->nparts < MK_GATHER_PARTS)
        mk_body_gather(&other->job->request, sizeof(g->buf) - g->used - CHUNK_ROOM);
    if (mk_pump_has_failed(mk_out_flush(other, false)) && other->job && other->job->request.view)
        mk_answering_break(&other->job->request);
    mk_watch_run_soon(&other->worker->loop, &other->watch);
}

/* The buffer is this connection's from here on. */
static struct mk_gather *claim(struct mk_conn *c)
{
    struct mk_gather *g = gather_of(c);

    if (g->bytes > 0 && g->owner != c)
        flush_other(g->owner);
    g->owner = c;
    return g;
}

char *mk_out_reserve(struct mk_conn *c, size_t len)
{
    struct mk_gather *g = claim(c);

    g->head = NULL;
    if (len > sizeof(g->buf))
        return NULL;
    if (len > sizeof(g->buf) - g->used || g->nparts == MK_GATHER_PARTS) {
        if (mk_pump_has_failed(mk_out_flush(c, true)))
            return NULL;
    }
    return g->buf + g->used;
}

void mk_out_commit(struct mk_conn *c, size_t len)
{
    struct mk_gather *g = gather_of(c);
    struct iovec *last = g->nparts > 0 ? &g->parts[g->nparts - 1] : NULL;

    if (last && (char *)last->iov_base + last->iov_len == g->buf + g->used)
        last->iov_len += len;
    else
        g->parts[g->nparts++] = (struct iovec){g->buf + g->used, len};
    g->used += len;
    g->bytes += len;
}

enum mk_pump mk_out_send(struct mk_conn *c, char *bytes, size_t len)
{
    struct mk_gather *g = claim(c);
    enum mk_pump verdict = g->nparts == MK_GATHER_PARTS ? mk_out_flush(c, true) : MK_PUMP_DONE;

    if (mk_pump_has_failed(verdict))
        return verdict;
    g->parts[g->nparts++] = (struct iovec){bytes, len};
    g->bytes += len;
    return mk_out_flush(c, false);
}

bool mk_out_add_file_bytes(struct mk_conn *c, struct mk_file *file, const char *bytes, size_t len)
{
    struct mk_gather *g = claim(c);

    if (g->nparts == MK_GATHER_PARTS || g->nfiles == MK_GATHER_PARTS ||
        g->bytes + len > 2 * sizeof(g->buf))
        return false;
    g->parts[g->nparts].iov_len = len;
    memcpy(&g->parts[g->nparts++].iov_base, &bytes, sizeof(bytes)); /* the kernel only reads it */
    g->files[g->nfiles++] = file;
    g->bytes += len;
    return true;
}

static enum mk_pump send_leftover(struct mk_conn *c)
{
    struct iovec part = {c->leftover + c->leftover_at, c->leftover_len};
    ssize_t n;

    if (c->leftover_len == 0)
        return MK_PUMP_DONE;
    n = c->link.transport->send(&c->link, &part, 1, c->tail != NULL);
    if (n < 0)
        return mk_pump_of_send(n);
    mk_count(&c->worker->counters.bytes_out, (uint64_t)n);
    c->leftover_at += (uint32_t)n;
    c->leftover_len -= (uint32_t)n;
    c->sent += (uint32_t)n;
    if (c->leftover_len > 0)
        return MK_PUMP_READER;
    mk_heap_free(c->leftover);
    c->leftover = NULL;
    return MK_PUMP_DONE;
}

enum mk_pump mk_out_read_file(struct mk_conn *c, int fd, uint64_t *at, size_t len)
{
    char *to = mk_out_reserve(c, len);
    ssize_t n;

    if (!to)
        return MK_PUMP_CUT;
    n = pread(fd, to, len, (off_t)*at);
    if (n != (ssize_t)len)
        return n < 0 ? MK_PUMP_BROKEN : MK_PUMP_TRUNCATED;
    mk_out_commit(c, len);
    *at += len;
    return MK_PUMP_DONE;
}

/* What sendfile cannot do, read and send can: one piece, at most half the gather buffer. */
static enum mk_pump copy_file(struct mk_conn *c, int fd, uint64_t *at, uint64_t end, size_t want)
{
    size_t most = MK_LIMIT_GATHER_BYTES / 2;
    enum mk_pump verdict = mk_out_read_file(c, fd, at, want < most ? want : most);

    return verdict == MK_PUMP_DONE ? mk_out_flush(c, *at < end) : verdict;
}

static void count_sent(struct mk_conn *c, size_t n, size_t *budget)
{
    *budget -= n < *budget ? n : *budget;
    c->sent += (uint32_t)n;
}

enum mk_pump mk_out_send_file(struct mk_conn *c, int fd, uint64_t *at, uint64_t end, size_t *budget)
{
    enum mk_pump verdict = mk_out_flush(c, true);

    while (verdict == MK_PUMP_DONE && *at < end) {
        size_t want = end - *at < *budget ? (size_t)(end - *at) : *budget;
        uint64_t before = *at;
        ssize_t n;

        if (want == 0)
            return MK_PUMP_TURN;
        n = mk_link_sendfile(&c->link, fd, *at, want);
        if (n == MK_E_UNSUPPORTED) {
            verdict = copy_file(c, fd, at, end, want);
            count_sent(c, (size_t)(*at - before), budget);
            continue;
        }
        if (n <= 0)
            return n == 0 ? MK_PUMP_TRUNCATED : mk_pump_of_send(n);
        mk_count(&c->worker->counters.bytes_out, (uint64_t)n);
        *at += (uint64_t)n;
        count_sent(
            c, (size_t)n,
            budget); /* less than wanted: full socket or shorter file, and only another call tells */
    }
    return verdict;
}

static enum mk_pump pump_tail(struct mk_conn *c, size_t *budget)
{
    enum mk_pump verdict;

    if (!c->tail)
        return MK_PUMP_DONE;
    verdict = mk_out_send_file(c, c->tail->fd, &c->tail_at, c->tail_end, budget);
    if (verdict == MK_PUMP_DONE) {
        mk_file_put(c->tail);
        c->tail = NULL;
    } else if (verdict == MK_PUMP_TRUNCATED) {
        mk_body_log_truncated(c->worker, c->id, c->tail);
    }
    return verdict;
}

enum mk_pump mk_out_pump(struct mk_conn *c, size_t *budget)
{
    enum mk_pump verdict = send_leftover(c);

    if (verdict == MK_PUMP_DONE)
        verdict = pump_tail(c, budget);
    if (verdict == MK_PUMP_DONE && c->job && c->job->request.view)
        verdict = mk_body_pump(&c->job->request, budget);
    if (verdict == MK_PUMP_READER && has_gathered(c))
        verdict = mk_out_flush(c, false); /* behind the leftover, not in the buffer of all */
    return verdict;
}

/* A body that ends with the connection would look complete: only a reset tells that it is not (RFC 9112 section 8). */
static void reset_if_cut(struct mk_conn *c)
{
    static const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    const struct mk_request *r = &c->job->request;

    if (r->framing != MK_FRAMING_CLOSE ||
        (!mk_answering_is_open(r) && r->answering != MK_ANSWERING_CUT))
        return;
    c->link.is_cut = true;
    (void)setsockopt(c->link.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

void mk_out_drop(struct mk_conn *c)
{
    if (has_gathered(c))
        reset_gather(gather_of(c));
    mk_heap_free(c->leftover);
    c->leftover = NULL;
    c->leftover_len = 0;
    if (c->tail)
        mk_file_put(c->tail);
    c->tail = NULL;
    if (c->job && c->job->request.view) {
        reset_if_cut(c);
        mk_body_drop(&c->job->request);
    }
}
