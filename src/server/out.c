/* SPDX-License-Identifier: Apache-2.0 */
#include "server/out.h"

#include "base/invariant.h"
#include "base/heap.h"
#include "server/job.h"
#include "server/worker.h"

#include <unistd.h>

enum {
    COPY_MAX = 2048,    /* a small body is cheaper copied than described by another part */
    PRODUCE_MAX = 8192, /* asked of a producer at once */
    CHUNK_TAIL = 7,     /* CRLF of the data, then perhaps "0 CRLF CRLF" */
};

static struct mk_gather *gather_of(const struct mk_conn *c)
{
    return &c->worker->gather;
}

static void reset_gather(struct mk_gather *g)
{
    for (int i = 0; i < g->nfiles; i++)
        mk_file_put(g->files[i]);
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
static int keep_leftover(struct mk_conn *c, size_t skip)
{
    struct mk_gather *g = gather_of(c);
    size_t len = c->leftover_len, more = g->bytes - skip;
    char *p = mk_heap_alloc(len + more);

    if (!p) {
        reset_gather(g);
        return MK_E_NOMEM;
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
    return MK_E_AGAIN;
}

int mk_out_flush(struct mk_conn *c, bool more)
{
    struct mk_gather *g = gather_of(c);
    ssize_t n;

    if (!has_gathered(c))
        return c->leftover_len > 0 ? MK_E_AGAIN : 0;
    if (c->leftover_len > 0)
        return keep_leftover(c, 0);
    n = c->link.transport->send(&c->link, g->parts, g->nparts, more);
    if (n < 0 && n != MK_E_AGAIN) {
        reset_gather(g);
        return (int)n;
    }
    if (n > 0)
        mk_count(&c->worker->counters.bytes_out, (uint64_t)n);
    if ((size_t)n == g->bytes) {
        reset_gather(g);
        return 0;
    }
    return keep_leftover(c, n > 0 ? (size_t)n : 0);
}

/* The buffer is this connection's from here on: what another gathered leaves first. */
static struct mk_gather *claim(struct mk_conn *c)
{
    struct mk_gather *g = gather_of(c);
    int err;

    if (g->bytes > 0 && g->owner != c) {
        struct mk_conn *other = g->owner;

        err = mk_out_flush(other, false);
        if (err < 0 && err != MK_E_AGAIN && other->job)
            other->job->request.failed = true;
        mk_watch_run_soon(&other->worker->loop, &other->watch);
    }
    g->owner = c;
    return g;
}

char *mk_out_reserve(struct mk_conn *c, size_t len)
{
    struct mk_gather *g = claim(c);

    if (len > sizeof(g->buf))
        return NULL;
    if (len > sizeof(g->buf) - g->used || g->nparts == MK_GATHER_PARTS) {
        int err = mk_out_flush(c, true);

        if (err < 0 && err != MK_E_AGAIN)
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

static void add_bytes(struct mk_conn *c, const char *bytes, size_t len)
{
    memcpy(gather_of(c)->buf + gather_of(c)->used, bytes, len);
    mk_out_commit(c, len);
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

static int send_leftover(struct mk_conn *c)
{
    struct iovec part = {c->leftover + c->leftover_at, c->leftover_len};
    ssize_t n;

    if (c->leftover_len == 0)
        return 0;
    n = c->link.transport->send(&c->link, &part, 1, c->tail != NULL);
    if (n < 0)
        return (int)n;
    mk_count(&c->worker->counters.bytes_out, (uint64_t)n);
    c->leftover_at += (uint32_t)n;
    c->leftover_len -= (uint32_t)n;
    c->progress = true;
    if (c->leftover_len > 0)
        return MK_E_AGAIN;
    mk_heap_free(c->leftover);
    c->leftover = NULL;
    return 0;
}

/* Read behind what is gathered, so that it leaves in one call with the head. */
static int read_file(struct mk_conn *c, struct mk_file *file, uint64_t *at, size_t len)
{
    char *to = mk_out_reserve(c, len);
    ssize_t n;

    if (!to)
        return MK_E_PEER;
    n = pread(file->fd, to, len, (off_t)*at);
    if (n != (ssize_t)len)
        return n < 0 ? MK_E_SYS : MK_E_NOENT;
    mk_out_commit(c, len);
    *at += len;
    return 0;
}

/* What sendfile cannot do, read and send can: one piece, at most half the gather buffer. */
static int copy_file(struct mk_conn *c, struct mk_file *file, uint64_t *at, size_t want)
{
    int err =
        read_file(c, file, at, want < MK_LIMIT_GATHER_BYTES / 2 ? want : MK_LIMIT_GATHER_BYTES / 2);

    return err < 0 ? err : mk_out_flush(c, true);
}

static void count_sent(struct mk_conn *c, size_t n, size_t *budget)
{
    *budget -= n < *budget ? n : *budget;
    c->progress = true;
}

/* Straight from the file to the socket, behind what was gathered. */
static int send_file(struct mk_conn *c, struct mk_file *file, uint64_t *at, uint64_t end,
                     size_t *budget)
{
    int err = mk_out_flush(c, true);

    while (err == 0 && *at < end) {
        size_t want = end - *at < *budget ? (size_t)(end - *at) : *budget;
        uint64_t before = *at;
        ssize_t n;

        if (want == 0)
            return MK_E_BUSY;
        n = mk_link_sendfile(&c->link, file->fd, *at, want);
        if (n == MK_E_UNSUPPORTED) {
            err = copy_file(c, file, at, want);
            count_sent(c, (size_t)(*at - before), budget);
            continue;
        }
        if (n <= 0)
            return n == 0 ? MK_E_NOENT : (int)n;
        mk_count(&c->worker->counters.bytes_out, (uint64_t)n);
        *at += (uint64_t)n;
        count_sent(
            c, (size_t)n,
            budget); /* less than wanted: full socket or shorter file, and only another call tells */
    }
    return err;
}

static int pump_file(struct mk_conn *c, struct mk_source *s, size_t *budget)
{
    size_t len = (size_t)(s->end - s->at);

    if (s->end - s->at > MK_LIMIT_SMALL_BODY)
        return send_file(c, s->file, &s->at, s->end, budget);
    if (!s->file->body)
        return read_file(c, s->file, &s->at, len);
    if (len <= COPY_MAX) {
        if (!mk_out_reserve(c, len))
            return MK_E_PEER;
        add_bytes(c, s->file->body + s->at, len);
    } else if (mk_out_add_file_bytes(c, s->file, s->file->body + s->at, len)) {
        mk_file_ref(s->file);
    } else {
        return send_file(c, s->file, &s->at, s->end, budget);
    }
    s->at = s->end;
    return 0;
}

/* Frame n bytes that stand at data, with room for the size line before and the line end behind. */
static void commit_chunk(struct mk_conn *c, char *start, char *data, size_t n)
{
    char size[MK_H1_CHUNK_HEAD];
    size_t len = mk_h1_chunk_head(size, n);

    memmove(start + len, data, n);
    memcpy(start, size, len);
    memcpy(start + len + n, "\r\n", 2);
    mk_out_commit(c, len + n + 2);
}

static int pump_memory(struct mk_conn *c, const struct mk_request *r, struct mk_source *s)
{
    while (s->at < s->end) {
        size_t len = s->end - s->at < PRODUCE_MAX ? (size_t)(s->end - s->at) : PRODUCE_MAX;
        char *start = mk_out_reserve(c, MK_H1_CHUNK_HEAD + len + CHUNK_TAIL);

        if (!start)
            return MK_E_PEER;
        if (r->chunked) {
            memcpy(start + MK_H1_CHUNK_HEAD, s->bytes + s->at, len);
            commit_chunk(c, start, start + MK_H1_CHUNK_HEAD, len);
        } else {
            add_bytes(c, s->bytes + s->at, len);
        }
        s->at += len;
    }
    return 0;
}

static int pump_producer(struct mk_conn *c, struct mk_request *r, struct mk_source *s,
                         size_t *budget)
{
    for (;;) {
        char *start = mk_out_reserve(c, MK_H1_CHUNK_HEAD + PRODUCE_MAX + CHUNK_TAIL);
        char *data = start + MK_H1_CHUNK_HEAD;
        ssize_t n;

        if (!start)
            return MK_E_PEER;
        if (c->leftover_len > 0)
            return MK_E_AGAIN;
        if (*budget < PRODUCE_MAX)
            return MK_E_BUSY;
        n = s->produce(r, s->arg, r->chunked ? data : start, PRODUCE_MAX);
        if (n == MK_E_AGAIN) {
            int err = mk_out_flush(c, false);

            return err < 0 ? err : MK_E_EOF;
        }
        if (n < 0)
            return (int)n;
        if (n == 0) {
            if (r->chunked)
                add_bytes(c, "0\r\n\r\n", 5);
            return 0;
        }
        *budget -= (size_t)n;
        c->progress = true;
        if (r->chunked)
            commit_chunk(c, start, data, (size_t)n);
        else
            mk_out_commit(c, (size_t)n);
    }
}

static int pump_source(struct mk_conn *c, struct mk_request *r, struct mk_source *s, size_t *budget)
{
    switch (s->kind) {
    case MK_SOURCE_MEMORY:
        return pump_memory(c, r, s);
    case MK_SOURCE_FILE:
        return pump_file(c, s, budget);
    case MK_SOURCE_PRODUCER:
        return pump_producer(c, r, s, budget);
    }
    return MK_E_INVALID;
}

static void drop_source(struct mk_request *r)
{
    struct mk_source *s = r->first;

    r->first = s->next;
    if (!r->first)
        r->last = NULL;
    if (s->kind == MK_SOURCE_FILE)
        mk_file_put(s->file);
}

static int pump_tail(struct mk_conn *c, size_t *budget)
{
    int err;

    if (!c->tail)
        return 0;
    err = send_file(c, c->tail, &c->tail_at, c->tail_end, budget);
    if (err == 0) {
        mk_file_put(c->tail);
        c->tail = NULL;
    }
    return err;
}

int mk_out_pump(struct mk_conn *c, size_t *budget)
{
    int err = send_leftover(c);

    if (err == 0)
        err = pump_tail(c, budget);
    while (err == 0 && c->job && c->job->request.first) {
        struct mk_request *r = &c->job->request;

        err = pump_source(c, r, r->first, budget);
        if (err == 0)
            drop_source(r);
    }
    if (err == MK_E_AGAIN && has_gathered(c))
        err = mk_out_flush(c, false); /* it waits behind the leftover, not in the buffer of all */
    return err;
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
    while (c->job && c->job->request.view && c->job->request.first)
        drop_source(&c->job->request);
}
