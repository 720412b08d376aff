/* SPDX-License-Identifier: Apache-2.0 */
#include "server/answer/reply.h"

#include "base/limits.h"
#include "base/str.h"
#include "http/date.h"
#include "http/status.h"
#include "server/answer/head.h"
#include "server/request/job.h"
#include "server/answer/out.h"
#include "server/worker/worker.h"

#include <stdio.h>

enum {
    TAIL_MAX = 128, /* what mk_reply_end adds itself */
};

#define OK_LINE "HTTP/1.1 200 OK\r\n"

/* The lines that are the same for every answer of a second. */
static void make_stamp(struct mk_worker *w, struct mk_str server)
{
    char date[MK_DATE_LEN];

    mk_date_format(date, w->loop.clock.wall_s);
    w->stamp_len =
        (size_t)snprintf(w->stamp, sizeof(w->stamp), OK_LINE "Date: %.*s\r\nServer: %.*s\r\n",
                         MK_DATE_LEN, date, (int)server.len, server.p);
    w->stamp_s = w->loop.clock.wall_s;
    w->stamp_server = server.p;
}

static void put(struct mk_reply *p, const char *bytes, size_t len)
{
    if (len > (size_t)(p->end - p->at)) {
        p->error = MK_E_LIMIT;
        return;
    }
    memcpy(p->at, bytes, len);
    p->at += len;
}

static void put_str(struct mk_reply *p, struct mk_str s)
{
    put(p, s.p, s.len);
}

static void put_status_line(struct mk_reply *p, unsigned status)
{
    char digits[20];

    put(p, "HTTP/1.1 ", 9);
    put(p, digits, mk_u64_to_dec(digits, status));
    put(p, " ", 1);
    put_str(p, mk_status_reason(status));
    put(p, "\r\n", 2);
}

/* "Date: " date CR LF */
enum { DATE_LINE = 6 + MK_DATE_LEN + 2 };

static void put_stamp(struct mk_reply *p, unsigned status)
{
    struct mk_worker *w = p->r->worker;
    const struct mk_snapshot *snapshot = p->r->view->snapshot;
    size_t ok_len = sizeof(OK_LINE) - 1;
    bool overridden =
        p->r->site->set.nheaders > 0 && mk_site_overrides(p->r->site, MK_STR("Server"));

    if (w->stamp_s != w->loop.clock.wall_s || w->stamp_server != snapshot->server_name.p)
        make_stamp(w, snapshot->server_name);
    if (status == 200 && !overridden) {
        put(p, w->stamp, w->stamp_len);
        return;
    }
    put_status_line(p, status);
    put(p, w->stamp + ok_len, overridden ? DATE_LINE : w->stamp_len - ok_len);
}

int mk_reply_start(struct mk_reply *p, struct mk_request *r, unsigned status)
{
    char *start = mk_out_reserve(r->conn, MK_LIMIT_ANSWER_HEAD);

    if (r->worker->running != r->conn)
        mk_request_resume(r); /* answered from elsewhere: it leaves when its own turn comes */
    if (!start)
        return MK_E_PEER;
    *p = (struct mk_reply){.r = r,
                           .start = start,
                           .at = start,
                           .end = start + MK_LIMIT_ANSWER_HEAD - TAIL_MAX,
                           .status = status};
    r->status = (uint16_t)status;
    put_stamp(p, status);
    return 0;
}

int mk_reply_start_interim(struct mk_reply *p, struct mk_request *r, unsigned status)
{
    int err = mk_reply_start(p, r, status);

    if (err < 0)
        return err;
    r->status = 0; /* the answer is still to come */
    p->at = p->start;
    put_status_line(p, status);
    return 0;
}

int mk_reply_finish_interim(struct mk_reply *p)
{
    put(p, "\r\n", 2);
    if (p->error)
        return p->error;
    if (p->r->head.minor > 0)
        mk_out_commit(p->r->conn, (size_t)(p->at - p->start));
    return 0;
}

void mk_reply_lines(struct mk_reply *p, struct mk_str lines)
{
    put_str(p, lines);
}

void mk_reply_add(struct mk_reply *p, struct mk_str name, struct mk_str value)
{
    if (p->r->site->set.nheaders > 0 && mk_site_overrides(p->r->site, name))
        return;
    put_str(p, name);
    put(p, ": ", 2);
    put_str(p, value);
    put(p, "\r\n", 2);
}

/* A body that nobody will read is skipped only when that is cheap; otherwise the answer is the last. */
static void decide_keep_alive(struct mk_request *r)
{
    if (r->body_done || r->reads_body)
        return;
    if (r->head.expect_continue || r->head.content_length > MK_LIMIT_BODY_SKIP)
        r->keep_alive = false;
}

/* After these the connection speaks another protocol (RFC 9110 sections 7.8 and 9.3.6). */
static bool opens_tunnel(const struct mk_request *r)
{
    return r->status == 101 || (r->head.method == MK_METHOD_CONNECT && r->status / 100 == 2);
}

static void put_length(struct mk_reply *p, uint64_t length)
{
    char digits[20];

    put(p, "Content-Length: ", 16);
    put(p, digits, mk_u64_to_dec(digits, length));
    put(p, "\r\n", 2);
}

static void put_framing(struct mk_reply *p, int64_t length)
{
    struct mk_request *r = p->r;

    if (p->has_length)
        return;
    if (length >= 0) {
        put_length(p, (uint64_t)length);
    } else if (r->head.minor == 1) {
        r->chunked = true;
        put_str(p, MK_STR("Transfer-Encoding: chunked\r\n"));
    } else {
        r->keep_alive = false;
        r->until_close = true;
    }
}

/* One line: what is said of the connection, and that Upgrade is (RFC 9110 sections 7.6.1 and 7.8). */
static void put_connection(struct mk_reply *p)
{
    const struct mk_request *r = p->r;

    if (!r->keep_alive)
        put_str(p, p->has_upgrade ? MK_STR("Connection: close, Upgrade\r\n")
                                  : MK_STR("Connection: close\r\n"));
    else if (p->has_upgrade)
        put_str(p, MK_STR("Connection: Upgrade\r\n"));
    else if (r->head.minor == 0)
        put_str(p, MK_STR("Connection: keep-alive\r\n"));
}

static void put_end_of_tunnel_head(struct mk_reply *p)
{
    if (p->has_upgrade)
        put_str(p, MK_STR("Connection: Upgrade\r\n"));
    p->r->keep_alive = false; /* whoever takes the connection over ends it */
}

int mk_reply_finish_plain(struct mk_reply *p, int64_t length)
{
    struct mk_request *r = p->r;
    bool has_content = mk_status_has_content(r->status);

    r->promised = length >= 0;
    r->body_left = length >= 0 ? (uint64_t)length : UINT64_MAX;
    if (r->site->on_head.count > 0) {
        int err = mk_head_run(p, &length);

        if (err < 0)
            return err;
    }
    p->end += TAIL_MAX;
    decide_keep_alive(r);
    if (opens_tunnel(r)) {
        has_content = false;
        put_end_of_tunnel_head(p);
    } else {
        if (has_content)
            put_framing(p, length);
        put_connection(p);
    }
    put(p, "\r\n", 2);
    if (p->error)
        return p->error;
    r->head_only = r->head.method == MK_METHOD_HEAD || !has_content;
    r->head_done = true;
    mk_out_commit(r->conn, (size_t)(p->at - p->start));
    return 0;
}

int mk_reply_finish(struct mk_reply *p, int64_t length)
{
    put_str(p, p->r->site->extra_lines);
    return mk_reply_finish_plain(p, length);
}
