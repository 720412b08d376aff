/* SPDX-License-Identifier: Apache-2.0 */
#include "server/request/request.h"

#include "base/limits.h"
#include "base/str.h"
#include "server/h1/h1.h"
#include "server/request/job.h"
#include "server/h1/conn.h"
#include "server/worker/worker.h"

struct mk_str mk_request_text(const struct mk_request *r, struct mk_piece piece)
{
    return mk_piece_str(piece, r->text);
}

struct mk_str mk_request_field(const struct mk_request *r, enum mk_field_id id)
{
    return mk_request_text(r, r->head.known[id]);
}

struct mk_str mk_request_query(const struct mk_request *r)
{
    return r->moved || r->requeried ? r->query : mk_request_text(r, r->head.query);
}

struct mk_str mk_request_authority(const struct mk_request *r)
{
    struct mk_str authority = mk_request_text(r, r->head.authority);

    return authority.p ? authority : mk_request_field(r, MK_FIELD_HOST);
}

struct mk_str mk_request_list(struct mk_request *r, enum mk_field_id id, struct mk_str name)
{
    struct mk_str list = mk_request_field(r, id), found, value;
    uint32_t at = 0;
    bool first = true;

    if (!(r->head.repeated & (1U << id)))
        return list;
    while (mk_h1_head_next_field(&r->head, r->text, &at, &found, &value)) {
        char *joined;

        if (!mk_str_ieq(found, name))
            continue;
        joined = first ? mk_arena_strdup(&r->arena, value)
                       : mk_arena_printf(&r->arena, "%.*s, %.*s", (int)list.len, list.p,
                                         (int)value.len, value.p);
        if (!joined)
            return list; /* the arena's limit: what was joined so far counts */
        list = mk_str_from(joined);
        first = false;
    }
    return list;
}

/* Decoding leaves the bytes of a trailer section where they came: before this end. */
static void keep_trailers(struct mk_request *r, const char *end, uint32_t n)
{
    uint32_t at = r->body.trailers - n;

    if (at == 0 && end[-(ptrdiff_t)n] != '\r')
        r->trailers = mk_arena_alloc(&r->arena, MK_LIMIT_TRAILERS);
    if (r->trailers)
        memcpy(r->trailers + at, end - n, n);
}

/* Decode what is buffered. @return bytes, 0 when the body ended without any, MK_E_AGAIN to read more, or an error. */
static ssize_t decode_buffered(struct mk_request *r, char *dst, size_t len)
{
    struct mk_job *job = r->conn->job;
    size_t n = mk_job_input(job) < len ? mk_job_input(job) : len, used = 0;
    uint32_t trailers = r->body.trailers;
    char *data = job->in + job->in_body;
    int done;

    if (n == 0)
        return MK_E_AGAIN;
    done = mk_h1_body_decode(&r->body, data, &n, &used);
    if (done < 0 && done != MK_E_AGAIN)
        return done;
    if (r->body.trailers > trailers)
        keep_trailers(r, data + used, r->body.trailers - trailers);
    memcpy(dst, data, n);
    job->in_body += (uint32_t)used;
    r->body_done = done == 1;
    return n > 0 || r->body_done ? (ssize_t)n : MK_E_AGAIN;
}

/* A body of known length needs no framing taken out: past the buffer, straight to where it is wanted. */
static ssize_t read_plain(struct mk_request *r, char *dst, size_t len)
{
    size_t n, used;
    ssize_t got = mk_h1_recv(r->conn, dst, r->body.left < len ? (size_t)r->body.left : len);
    int done;

    if (got <= 0)
        return got == 0 ? MK_E_PEER : got;
    n = (size_t)got;
    done = mk_h1_body_decode(&r->body, dst, &n, &used);
    r->body_done = done == 1;
    return done < 0 && done != MK_E_AGAIN ? done : got;
}

static ssize_t read_body(struct mk_request *r, char *dst, size_t len)
{
    mk_h1_expect_body(r);
    while (!r->body_done) {
        ssize_t n = decode_buffered(r, dst, len);

        if (n != MK_E_AGAIN)
            return n;
        if (mk_job_input(r->conn->job) > 0)
            continue;
        if (!r->body.chunked)
            return read_plain(r, dst, len);
        n = mk_h1_fill(r->conn);
        if (n <= 0)
            return n == 0 ? MK_E_PEER : n;
    }
    return 0;
}

/* Who reads to MK_E_AGAIN would never come back from a sender that is faster. */
static bool has_read_enough(struct mk_request *r)
{
    uint32_t turn = (uint32_t)r->worker->loop.turns;

    if (r->read_turn != turn) {
        r->read_turn = turn;
        r->read_bytes = 0;
    }
    return r->read_bytes >= MK_LIMIT_TURN_BYTES;
}

ssize_t mk_request_read(struct mk_request *r, char *dst, size_t len)
{
    ssize_t n;

    if (len == 0)
        return MK_E_INVALID;
    if (r->over)
        return MK_E_PEER;
    if (has_read_enough(r)) {
        mk_request_resume(r);
        return MK_E_AGAIN;
    }
    if (len > MK_LIMIT_TURN_BYTES)
        len = MK_LIMIT_TURN_BYTES;
    n = read_body(r, dst, len);
    if (n > 0)
        r->read_bytes += (uint32_t)n;
    if (n == MK_E_AGAIN && r->worker->running != r->conn)
        mk_h1_set_timeout(r->conn); /* another's event reads, and waits for the sender now */
    return n;
}

size_t mk_request_buffered(const struct mk_request *r)
{
    return r->over || r->body_done ? 0 : mk_job_input(r->conn->job);
}

void mk_request_hold(struct mk_request *r, size_t bytes)
{
    r->held = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}
