/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "http/status.h"
#include "server/job.h"
#include "server/reply.h"
#include "server/route.h"
#include "server/worker.h"

/* Pages that the server makes itself. Nothing that a peer sent is repeated in them. */

#define ALLOWED "GET, HEAD, OPTIONS"

static const struct mk_error_page *find_page(const struct mk_site *site, unsigned status)
{
    for (size_t i = 0; i < site->set.nerror_pages; i++) {
        if (site->set.error_pages[i].status == status)
            return &site->set.error_pages[i];
    }
    return NULL;
}

/* The site's own page for this status, if it has one that can be read and is not a handler's source. */
static struct mk_file *open_page(struct mk_request *r, unsigned status)
{
    const struct mk_error_page *page = find_page(r->site, status);
    struct mk_files *files = &r->view->files;
    struct mk_file *file;

    if (!page)
        return NULL;
    file = mk_files_get(files, mk_files_site_root(files, r->site), page->path,
                        r->conn->worker->loop.clock.mono_ms);
    if (file && (file->kind != MK_FILE_REGULAR || mk_route_is_owned(r, file))) {
        mk_file_put(file);
        return NULL;
    }
    return file;
}

static void break_off(struct mk_request *r)
{
    r->failed = true;
    r->keep_alive = false;
}

static void send_own_page(struct mk_reply *p, struct mk_request *r, struct mk_file *file)
{
    mk_reply_line(p, MK_STR("Content-Type"), file->type);
    if (mk_reply_end(p, (int64_t)file->facts.size) < 0) {
        mk_file_put(file);
        break_off(r);
    } else if (mk_reply_file(r, file, 0, file->facts.size) < 0) {
        break_off(r);
    }
}

static void send_small_page(struct mk_reply *p, struct mk_request *r, unsigned status,
                            struct mk_str location)
{
    struct mk_str reason = mk_status_reason(status);
    char *page =
        mk_arena_printf(&r->arena,
                        "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\">"
                        "<meta name=\"viewport\" content=\"width=device-width\">"
                        "<title>%u %.*s</title><h1>%u %.*s</h1>\n",
                        status, (int)reason.len, reason.p, status, (int)reason.len, reason.p);
    struct mk_str body = mk_str_from(page);

    if (location.p)
        mk_reply_line(p, MK_STR("Location"), location);
    if (page)
        mk_reply_line(p, MK_STR("Content-Type"), MK_STR("text/html; charset=utf-8"));
    if (mk_reply_end(p, (int64_t)body.len) < 0 || mk_reply_memory(r, body) < 0)
        break_off(r);
}

/* With one field that belongs to this status; no name, no field. */
static void send_error(struct mk_request *r, unsigned status, struct mk_str name,
                       struct mk_str value)
{
    struct mk_file *file;
    struct mk_reply p;

    if (r->status != 0) { /* an answer has begun: there cannot be another */
        break_off(r);
        return;
    }
    file = open_page(r, status);
    mk_count(&r->conn->worker->counters.refused, 1);
    if (mk_reply_begin(&p, r, status) < 0) {
        if (file)
            mk_file_put(file);
        break_off(r);
        return;
    }
    if (name.p)
        mk_reply_line(&p, name, value);
    if (file)
        send_own_page(&p, r, file);
    else
        send_small_page(&p, r, status, (struct mk_str){NULL, 0});
}

void mk_reply_page(struct mk_request *r, unsigned status, bool close)
{
    if (close)
        r->keep_alive = false;
    send_error(r, status, status == 405 ? MK_STR("Allow") : (struct mk_str){NULL, 0},
               MK_STR(ALLOWED));
}

void mk_reply_range_error(struct mk_request *r, uint64_t size)
{
    char *range = mk_arena_printf(&r->arena, "bytes */%llu", (unsigned long long)size);

    send_error(r, 416, range ? MK_STR("Content-Range") : (struct mk_str){NULL, 0},
               mk_str_from(range));
}

void mk_reply_refuse(struct mk_request *r, enum mk_refusal refusal)
{
    unsigned status = mk_refusal_status(refusal);
    bool ends = refusal == MK_REFUSAL_PATH_BAD || refusal == MK_REFUSAL_BODY_LARGE ||
                refusal == MK_REFUSAL_BODY_BAD || refusal == MK_REFUSAL_BODY_SLOW ||
                refusal == MK_REFUSAL_HEAD_SLOW;

    mk_log_peer(mk_worker_log(r->conn->worker), status >= 500 ? MK_LOG_WARN : MK_LOG_DEBUG,
                MK_LOG_HTTP, "refused conn=%llu status=%u why=\"%s\"",
                (unsigned long long)r->conn->id, status, mk_refusal_text(refusal));
    r->reason = mk_refusal_text(refusal);
    mk_reply_page(r, status, ends);
}

void mk_reply_options(struct mk_request *r)
{
    struct mk_reply p;

    if (mk_reply_begin(&p, r, 204) < 0) {
        break_off(r);
        return;
    }
    mk_reply_line(&p, MK_STR("Allow"), MK_STR(ALLOWED));
    if (mk_reply_end(&p, 0) < 0)
        break_off(r);
}

enum mk_verdict mk_reply_redirect(struct mk_request *r, unsigned status, struct mk_str location)
{
    struct mk_reply p;

    if (mk_reply_begin(&p, r, status) < 0)
        break_off(r);
    else
        send_small_page(&p, r, status, location);
    return MK_VERDICT_DONE;
}
