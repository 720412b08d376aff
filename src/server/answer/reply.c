/* SPDX-License-Identifier: Apache-2.0 */
#include "server/answer/reply.h"

#include "base/str.h"
#include "http/date.h"
#include "http/status.h"
#include "server/answer/head.h"
#include "server/answer/misuse.h"
#include "server/request/wire.h"
#include "server/worker/worker.h"

#include <stdio.h>

/* The lines that are the same for every answer of a second. */
static void make_stamp(struct mk_worker *w, struct mk_str server)
{
    char date[MK_DATE_LEN];

    mk_date_format(date, w->loop.clock.wall_s);
    w->stamp_len = (size_t)snprintf(w->stamp, sizeof(w->stamp), "Date: %.*s\r\nServer: %.*s\r\n",
                                    MK_DATE_LEN, date, (int)server.len, server.p);
    w->stamp_s = w->loop.clock.wall_s;
    w->stamp_server = server.p;
}

static __attribute__((noinline)) bool make_room(struct mk_reply *p, size_t len)
{
    if (p->error == 0)
        p->error = mk_reply_grow(p, len);
    return p->error == 0;
}

/* @return whether there is room for so many bytes more. */
static inline bool has_room(struct mk_reply *p, size_t len)
{
    return len <= (size_t)(p->end - p->at) || make_room(p, len);
}

static void put(struct mk_reply *p, const char *bytes, size_t len)
{
    if (!has_room(p, len))
        return;
    memcpy(p->at, bytes, len);
    p->at += len;
}

static void put_str(struct mk_reply *p, struct mk_str s)
{
    put(p, s.p, s.len);
}

/* "Date: " date CR LF */
enum { DATE_LINE = 6 + MK_DATE_LEN + 2 };

static void put_stamp(struct mk_reply *p)
{
    struct mk_worker *w = p->r->worker;
    const struct mk_snapshot *snapshot = p->r->view->snapshot;
    bool overridden =
        p->r->site->set.nheaders > 0 && mk_site_overrides(p->r->site, MK_STR("Server"));

    if (w->stamp_s != w->loop.clock.wall_s || w->stamp_server != snapshot->server_name.p)
        make_stamp(w, snapshot->server_name);
    put(p, w->stamp, overridden ? DATE_LINE : w->stamp_len);
}

int mk_reply_start_interim(struct mk_reply *p, struct mk_request *r, unsigned status)
{
    *p = (struct mk_reply){.r = r, .status = status};
    return r->wire->begin_head(p);
}

int mk_reply_start(struct mk_reply *p, struct mk_request *r, unsigned status)
{
    int err = mk_reply_start_interim(p, r, status);

    if (err < 0)
        return err;
    r->status = (uint16_t)status;
    mk_answering_change(r, MK_ANSWERING_HEAD);
    put_stamp(p);
    return 0;
}

int mk_reply_finish_interim(struct mk_reply *p)
{
    int err = p->error ? p->error : p->r->wire->end_interim(p);

    mk_head_room_free(p->r);
    return err;
}

void mk_reply_instead(struct mk_request *r)
{
    (void)mk_misuse_log(r, "a head without an end", 0);
    mk_reply_forget(r);
    mk_reply_refuse(r, MK_REFUSAL_HANDLER);
}

void mk_reply_lines(struct mk_reply *p, struct mk_str lines)
{
    put_str(p, lines);
}

void mk_reply_add(struct mk_reply *p, struct mk_str name, struct mk_str value)
{
    if (p->r->site->set.nheaders > 0 && mk_site_overrides(p->r->site, name))
        return;
    if (!has_room(p, name.len + 2 + value.len + 2))
        return;
    memcpy(p->at, name.p, name.len);
    memcpy(p->at + name.len, ": ", 2);
    p->at += name.len + 2;
    memcpy(p->at, value.p, value.len);
    memcpy(p->at + value.len, "\r\n", 2);
    p->at += value.len + 2;
}

int mk_reply_finish_plain(struct mk_reply *p, int64_t length)
{
    struct mk_request *r = p->r;
    bool has_content = mk_status_has_content(r->status) && !mk_request_opens_tunnel(r);
    int err;

    if (r->site->has_late_lines)
        mk_reply_late_lines(p);
    r->body_left = length >= 0 ? (uint64_t)length : UINT64_MAX;
    if (r->lines)
        put_str(p, mk_str_from(r->lines));
    err = r->site->on_head.count > 0 ? mk_head_run(p, &length) : p->error;
    if (err == 0)
        err = p->error ? p->error : r->wire->end_head(p, length, has_content);
    if (r->worker->head_room)
        mk_head_room_free(r);
    if (err < 0)
        return err;
    if (r->head.method == MK_METHOD_HEAD || !has_content)
        r->framing = MK_FRAMING_ABSENT;
    mk_answering_change(r, MK_ANSWERING_BODY);
    return 0;
}

int mk_reply_finish(struct mk_reply *p, int64_t length)
{
    if (p->r->site->extra_lines.len > 0)
        put_str(p, p->r->site->extra_lines);
    return mk_reply_finish_plain(p, length);
}
