/* SPDX-License-Identifier: Apache-2.0 */
#include "server/h1/h1_wire.h"

#include "base/str.h"
#include "server/h1/h1_int.h"

static void wake(struct mk_request *r)
{
    mk_watch_run_soon(&r->worker->loop, &r->conn->watch);
}

static void renew_timeout(struct mk_request *r)
{
    mk_h1_renew_timeout(r->conn);
}

/* An empty line before it is skipped, as by the parser. */
static struct mk_str refused_line(const struct mk_request *r)
{
    const struct mk_job *job = r->conn->job;
    struct mk_str line = {job->in + job->in_at, job->in_end - job->in_at};
    size_t len = 0;

    if (r->head_len > 0 || job->in_end <= job->in_at)
        return (struct mk_str){NULL, 0};
    if (mk_str_has_prefix(line, MK_STR("\r\n")))
        line = mk_str_skip(line, 2);
    while (len < line.len && line.p[len] != '\r' && line.p[len] != '\n')
        len++;
    return (struct mk_str){line.p, len};
}

static void name_peer(const struct mk_request *r, char dst[MK_PEER_TEXT])
{
    (void)mk_conn_peer(r->conn, dst);
}

const struct mk_wire mk_h1_wire = {
    .read = mk_h1_read,
    .buffered = mk_h1_buffered,
    .begin_head = mk_h1_begin_head,
    .has_head = mk_h1_has_head,
    .end_interim = mk_h1_end_interim,
    .end_head = mk_h1_end_head,
    .may_send = mk_h1_may_send,
    .send_part = mk_h1_send_part,
    .send_piece = mk_h1_send_piece,
    .can_splice = mk_h1_can_splice,
    .splice = mk_h1_splice,
    .flush = mk_h1_flush,
    .end_body = mk_h1_end_body,
    .wake = wake,
    .renew_timeout = renew_timeout,
    .take = mk_h1_take,
    .watch_taken = mk_h1_watch_taken,
    .peer = name_peer,
    .refused_line = refused_line,
};
