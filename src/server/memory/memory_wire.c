/* SPDX-License-Identifier: Apache-2.0 */
#include "base/invariant.h"
#include "base/limits.h"
#include "base/str.h"
#include "server/answer/reply.h"
#include "server/files/files.h"
#include "server/memory/memory.h"
#include "server/request/wire.h"
#include "server/worker/worker.h"

#include <unistd.h>

/* The seam between a request and memory: bytes in from the question, bytes out to the answer. */

enum { COPY_MAX = 64 << 10 };

static struct mk_memory *memory_of(const struct mk_request *r)
{
    return MK_CONTAINER_OF(mk_carried_of(r), struct mk_memory, carried);
}

static ssize_t read_body(struct mk_request *r, char *dst, size_t len)
{
    struct mk_memory *m = memory_of(r);
    size_t left = m->in.len - m->body_at, n = left < len ? left : len;

    if (r->receiving == MK_RECEIVING_UNREAD)
        mk_receiving_go(r, MK_RECEIVING_READING);
    memcpy(dst, m->in.p + m->body_at, n);
    m->body_at += n;
    r->body.total += n;
    if (n == left)
        mk_receiving_go(r, MK_RECEIVING_DONE);
    return (ssize_t)n;
}

static size_t buffered(const struct mk_request *r)
{
    const struct mk_memory *m = memory_of(r);

    return m->in.len - m->body_at;
}

/* ---- the head ---- */

static int begin_head(struct mk_reply *p)
{
    struct mk_memory *m = memory_of(p->r);

    m->head.len = 0;
    return mk_carried_begin_head(p, mk_buf_reserve(&m->head, MK_LIMIT_ANSWER_ROOM),
                                 MK_LIMIT_ANSWER_ROOM);
}

static bool has_head(const struct mk_reply *p)
{
    return (p->start == memory_of(p->r)->head.p || mk_reply_has_large_room(p)) &&
           p->r->answering < MK_ANSWERING_BODY;
}

/* Nobody waits for it. */
static int end_interim(struct mk_reply *p)
{
    (void)p;
    return 0;
}

static int end_head(struct mk_reply *p, int64_t length, bool has_content)
{
    struct mk_memory *m = memory_of(p->r);
    struct mk_str fields = mk_carried_end_head(p, length, has_content);

    if (mk_reply_has_large_room(p))
        return mk_buf_append_str(&m->head, fields);
    m->head.len = fields.len;
    return 0;
}

/* ---- the body ---- */

static enum mk_pump may_send(const struct mk_request *r)
{
    (void)r;
    return MK_PUMP_DONE;
}

/* @return room for so many bytes; NULL: the answer is broken off. */
static char *reserve(struct mk_memory *m, size_t len)
{
    char *to = mk_buf_reserve(&m->body, len);

    if (to && mk_memory_weigh(m))
        return to;
    m->carried.error = to ? MK_E_NOMEM : m->body.error;
    mk_reply_break(&m->carried.request);
    return NULL;
}

static enum mk_pump send_piece(struct mk_request *r, const char *bytes, size_t len)
{
    struct mk_memory *m = memory_of(r);
    char *to = reserve(m, len);

    if (!to)
        return MK_PUMP_BROKEN;
    memcpy(to, bytes, len);
    m->body.len += len;
    return MK_PUMP_DONE;
}

static enum mk_pump send_file(struct mk_memory *m, struct mk_source *s, size_t len)
{
    char *to = reserve(m, len);
    ssize_t n;

    if (!to)
        return MK_PUMP_BROKEN;
    n = pread(s->fd, to, len, (off_t)s->at);
    if (n <= 0)
        return n < 0 ? MK_PUMP_BROKEN : MK_PUMP_TRUNCATED;
    m->body.len += (size_t)n;
    s->at += (uint64_t)n;
    return MK_PUMP_DONE;
}

static enum mk_pump send_part(struct mk_request *r, struct mk_source *s, size_t *budget)
{
    struct mk_memory *m = memory_of(r);
    const char *bytes = s->kind == MK_SOURCE_MEMORY ? s->bytes : s->file ? s->file->body : NULL;

    while (s->at < s->end) {
        size_t len = s->end - s->at < COPY_MAX ? (size_t)(s->end - s->at) : COPY_MAX;
        enum mk_pump verdict;

        if (*budget < len)
            return MK_PUMP_TURN;
        verdict = bytes ? send_piece(r, bytes + s->at, len) : send_file(m, s, len);
        if (verdict != MK_PUMP_DONE)
            return verdict;
        if (bytes)
            s->at += len;
        *budget -= len;
    }
    return MK_PUMP_DONE;
}

static enum mk_pump end_body(struct mk_request *r)
{
    return mk_carried_put_trailers(r, &memory_of(r)->trailers) == 0 ? MK_PUMP_DONE
                                                                    : MK_PUMP_NO_MEMORY;
}

const struct mk_wire mk_memory_wire = {
    .read = read_body,
    .buffered = buffered,
    .begin_head = begin_head,
    .has_head = has_head,
    .end_interim = end_interim,
    .end_head = end_head,
    .may_send = may_send,
    .send_part = send_part,
    .send_piece = send_piece,
    .flush = mk_carried_flush,
    .end_body = end_body,
    .wake = mk_carried_wake,
    .renew_timeout = mk_carried_renew_timeout,
};
