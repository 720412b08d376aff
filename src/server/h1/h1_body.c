/* SPDX-License-Identifier: Apache-2.0 */
#include "http/h1_body.h"
#include "server/files/files.h"
#include "server/h1/h1_int.h"
#include "server/h1/h1_wire.h"
#include "server/h1/out.h"

#include <errno.h>
#include <fcntl.h>

/* Bodies of answers: into the gather buffer or straight to the socket, in chunks where the head said so (RFC 9112 section 7.1). */

enum {
    COPY_MAX = 2048,  /* a small body is cheaper copied than described by another part */
    PIECE_MAX = 8192, /* of memory, gathered at once */
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

enum mk_pump mk_h1_may_send(const struct mk_request *r)
{
    return r->conn->leftover_len > 0 ? MK_PUMP_READER : MK_PUMP_DONE;
}

/* ---- parts of a known length: one chunk each ---- */

static enum mk_pump begin_chunk(struct mk_conn *c, struct mk_source *s)
{
    char size[MK_H1_CHUNK_HEAD];

    s->framed = true;
    return add_bytes(c, size, mk_h1_chunk_head(size, s->end - s->at));
}

static enum mk_pump end_chunk(struct mk_conn *c, struct mk_source *s)
{
    enum mk_pump verdict = add_bytes(c, "\r\n", 2);

    s->framed = verdict != MK_PUMP_DONE;
    return verdict;
}

static enum mk_pump send_file(struct mk_conn *c, struct mk_source *s, size_t *budget)
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

static enum mk_pump send_memory(struct mk_conn *c, struct mk_source *s, size_t *budget)
{
    while (s->at < s->end) {
        size_t len = s->end - s->at < PIECE_MAX ? (size_t)(s->end - s->at) : PIECE_MAX;
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

enum mk_pump mk_h1_send_part(struct mk_request *r, struct mk_source *s, size_t *budget)
{
    struct mk_conn *c = r->conn;
    enum mk_pump verdict = MK_PUMP_DONE;

    if (s->at < s->end) {
        if (r->framing == MK_FRAMING_CHUNKS && !s->framed)
            verdict = begin_chunk(c, s);
        if (verdict == MK_PUMP_DONE)
            verdict =
                s->kind == MK_SOURCE_FILE ? send_file(c, s, budget) : send_memory(c, s, budget);
    }
    return verdict == MK_PUMP_DONE && s->framed ? end_chunk(c, s) : verdict;
}

/* ---- pieces as they come ---- */

enum mk_pump mk_h1_send_piece(struct mk_request *r, const char *bytes, size_t len)
{
    struct mk_conn *c = r->conn;
    char *to = mk_out_reserve(c, MK_H1_CHUNK_HEAD + len + 2);
    size_t at = 0;

    if (!to)
        return MK_PUMP_CUT;
    if (r->framing == MK_FRAMING_CHUNKS)
        at = mk_h1_chunk_head(to, len);
    memcpy(to + at, bytes, len);
    at += len;
    if (r->framing == MK_FRAMING_CHUNKS) {
        memcpy(to + at, "\r\n", 2);
        at += 2;
    }
    mk_out_commit(c, at);
    c->sent += (uint32_t)len;
    return MK_PUMP_DONE;
}

bool mk_h1_can_splice(const struct mk_request *r)
{
    return r->framing != MK_FRAMING_CHUNKS && r->conn->link.transport->is_plain;
}

static enum mk_pump pump_of_splice(void)
{
    switch (errno) {
    case EAGAIN:
        return MK_PUMP_READER;
    case EINVAL: /* this kind of socket cannot */
    case ENOSYS:
        return MK_PUMP_COPY;
    default:
        return MK_PUMP_CUT;
    }
}

enum mk_pump mk_h1_splice(struct mk_request *r, int fd, size_t len, size_t *moved)
{
    struct mk_conn *c = r->conn;
    ssize_t n;

    *moved = 0;
    do
        n = splice(fd, NULL, c->link.fd, NULL, len, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return pump_of_splice();
    mk_count(&c->worker->counters.bytes_out, (uint64_t)n);
    c->sent += (uint32_t)n;
    *moved = (size_t)n;
    return MK_PUMP_DONE;
}

/* ---- both ---- */

enum mk_pump mk_h1_flush(struct mk_request *r, bool more)
{
    return mk_out_flush(r->conn, more);
}

/* The last chunk, trailers, and an empty line. */
enum mk_pump mk_h1_end_body(struct mk_request *r)
{
    struct mk_conn *c = r->conn;
    enum mk_pump verdict;

    if (r->framing != MK_FRAMING_CHUNKS)
        return MK_PUMP_DONE;
    verdict = add_bytes(c, "0\r\n", 3);
    for (const struct mk_trailer *t = r->trailer; t && verdict == MK_PUMP_DONE; t = t->next)
        verdict = add_bytes(c, t->line.p, t->line.len);
    return verdict == MK_PUMP_DONE ? add_bytes(c, "\r\n", 2) : verdict;
}
