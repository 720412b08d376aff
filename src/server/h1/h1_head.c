/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "base/str.h"
#include "http/status.h"
#include "server/answer/reply.h"
#include "server/h1/h1_int.h"
#include "server/h1/h1_wire.h"
#include "server/h1/out.h"
#include "server/request/request_state.h"
#include "server/request/ticket.h"

/* Heads of answers: straight into the gather buffer, status line, fields, framing (RFC 9112 sections 4 and 6). */

enum {
    TAIL_MAX = 128, /* framing fields and the end */
};

#define OK_LINE "HTTP/1.1 200 OK\r\n"

static char *append(char *to, const char *bytes, size_t len)
{
    memcpy(to, bytes, len);
    return to + len;
}

static char *append_str(char *to, struct mk_str s)
{
    return append(to, s.p, s.len);
}

static char *append_status_line(char *to, unsigned status)
{
    if (status == 200)
        return append(to, OK_LINE, sizeof(OK_LINE) - 1);
    to = append(to, "HTTP/1.1 ", 9);
    to += mk_u64_to_dec(to, status);
    *to++ = ' ';
    to = append_str(to, mk_status_reason(status));
    return append(to, "\r\n", 2);
}

int mk_h1_begin_head(struct mk_reply *p)
{
    struct mk_conn *c = p->r->conn;
    char *start = mk_out_reserve(c, MK_LIMIT_ANSWER_ROOM);

    if (c->worker->running != c)
        mk_request_resume(p->r); /* answered from elsewhere: it leaves when its own turn comes */
    if (!start)
        return MK_E_PEER;
    c->worker->gather->head = p->r;
    p->start = p->at = append_status_line(start, p->status);
    p->end = start + MK_LIMIT_ANSWER_ROOM - TAIL_MAX;
    return 0;
}

bool mk_h1_has_head(const struct mk_reply *p)
{
    return p->r->worker->gather->head == p->r;
}

/* The status line is where it was, the fields are not. @return 0 or MK_E_PEER: the answer is broken off. */
static int __attribute__((cold)) commit_large(const struct mk_reply *p)
{
    struct mk_gather *g = p->r->worker->gather;
    char *line = g->buf + g->used;

    mk_out_commit(p->r->conn, (size_t)(append_status_line(line, p->status) - line));
    if (!mk_pump_has_failed(mk_out_send(p->r->conn, p->start, (size_t)(p->at - p->start))))
        return 0;
    mk_reply_break(p->r);
    return MK_E_PEER;
}

/* From the status line on. @return as commit_large. */
static int commit(const struct mk_reply *p)
{
    struct mk_gather *g = p->r->worker->gather;

    g->head = NULL;
    if (p->r->worker->head_room && mk_reply_has_large_room(p))
        return commit_large(p);
    mk_out_commit(p->r->conn, (size_t)(p->at - (g->buf + g->used)));
    return 0;
}

int mk_h1_end_interim(struct mk_reply *p)
{
    p->at = append(p->at, "\r\n", 2);
    return p->r->head.minor > 0 ? commit(p) : 0;
}

/* A body that nobody will read is skipped only when that is cheap; otherwise the answer is the last. */
static void decide_keep_alive(struct mk_request *r)
{
    if (r->receiving != MK_RECEIVING_UNREAD)
        return;
    if (r->head.expect_continue || r->head.content_length > MK_LIMIT_BODY_SKIP)
        r->keep_alive = false;
}

static void put_length(struct mk_reply *p, uint64_t length)
{
    p->at = append(p->at, "Content-Length: ", 16);
    p->at += mk_u64_to_dec(p->at, length);
    p->at = append(p->at, "\r\n", 2);
}

static void put_framing(struct mk_reply *p, int64_t length)
{
    struct mk_request *r = p->r;

    if (p->has_length)
        return;
    if (length >= 0) {
        put_length(p, (uint64_t)length);
    } else if (r->head.minor == 1) {
        r->framing = MK_FRAMING_CHUNKS;
        p->at = append_str(p->at, MK_STR("Transfer-Encoding: chunked\r\n"));
    } else {
        r->keep_alive = false;
        r->framing = MK_FRAMING_CLOSE;
    }
}

/* One line: what is said of the connection, and that Upgrade is (RFC 9110 sections 7.6.1 and 7.8). */
static void put_connection(struct mk_reply *p)
{
    const struct mk_request *r = p->r;

    if (!r->keep_alive)
        p->at = append_str(p->at, p->has_upgrade ? MK_STR("Connection: close, Upgrade\r\n")
                                                 : MK_STR("Connection: close\r\n"));
    else if (p->has_upgrade)
        p->at = append_str(p->at, MK_STR("Connection: Upgrade\r\n"));
    else if (r->head.minor == 0)
        p->at = append_str(p->at, MK_STR("Connection: keep-alive\r\n"));
}

static void put_end_of_tunnel_head(struct mk_reply *p)
{
    if (p->has_upgrade)
        p->at = append_str(p->at, MK_STR("Connection: Upgrade\r\n"));
    p->r->keep_alive = false; /* whoever takes the connection over ends it */
}

/* The tail has room of its own behind p->end: whatever fitted so far, it fits too. */
int mk_h1_end_head(struct mk_reply *p, int64_t length, bool has_content)
{
    struct mk_request *r = p->r;

    decide_keep_alive(r);
    if (!has_content && mk_request_opens_tunnel(r)) {
        put_end_of_tunnel_head(p);
    } else {
        if (has_content)
            put_framing(p, length);
        put_connection(p);
    }
    p->at = append(p->at, "\r\n", 2);
    return commit(p);
}
