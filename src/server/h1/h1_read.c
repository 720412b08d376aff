/* SPDX-License-Identifier: Apache-2.0 */
#include "server/h1/h1_int.h"
#include "server/h1/h1_wire.h"
#include "server/h1/out.h"
#include "server/request/request_state.h"

#define CONTINUE_LINE "HTTP/1.1 100 Continue\r\n\r\n"

/* The body of a request: from the connection's buffer and its socket, without its framing. */

/* The client waits for 100 before it sends (RFC 9110 section 10.1.1). After the answer's head it would be no interim response. */
static void say_continue(struct mk_request *r)
{
    char *line;

    if (!r->head.expect_continue || r->status != 0 || mk_job_input(r->conn->job) > 0)
        return;
    line = mk_out_reserve(r->conn, sizeof(CONTINUE_LINE));
    if (!line)
        return;
    memcpy(line, CONTINUE_LINE, sizeof(CONTINUE_LINE) - 1);
    mk_out_commit(r->conn, sizeof(CONTINUE_LINE) - 1);
    mk_watch_run_soon(&r->worker->loop, &r->conn->watch);
}

/* From here on the body is not skipped. */
static void expect_body(struct mk_request *r)
{
    if (r->receiving != MK_RECEIVING_UNREAD)
        return;
    mk_receiving_go(r, MK_RECEIVING_READING);
    say_continue(r);
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
    if (done < 0 && done != MK_E_AGAIN) {
        r->keep_alive = false; /* where the next request would begin is not known */
        return done;
    }
    if (r->body.trailers > trailers)
        keep_trailers(r, data + used, r->body.trailers - trailers);
    memcpy(dst, data, n);
    job->in_body += (uint32_t)used;
    if (done == 1)
        mk_receiving_go(r, MK_RECEIVING_DONE);
    return n > 0 || mk_receiving_is_done(r) ? (ssize_t)n : MK_E_AGAIN;
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
    if (done == 1)
        mk_receiving_go(r, MK_RECEIVING_DONE);
    return done < 0 && done != MK_E_AGAIN ? done : got;
}

static ssize_t read_body(struct mk_request *r, char *dst, size_t len)
{
    expect_body(r);
    while (!mk_receiving_is_done(r)) {
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

ssize_t mk_h1_read(struct mk_request *r, char *dst, size_t len)
{
    ssize_t n = read_body(r, dst, len);

    if (n == MK_E_AGAIN && r->worker->running != r->conn)
        mk_h1_set_timeout(r->conn); /* another's event reads, and waits for the sender now */
    return n;
}

size_t mk_h1_buffered(const struct mk_request *r)
{
    return mk_job_input(r->conn->job);
}
