/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "http/field.h"
#include "http/status.h"
#include "server/answer/misuse.h"
#include "server/answer/reply.h"
#include "server/worker/worker.h"

#include <monkey/field.h>

/* Pages that the server makes itself. Nothing that a peer sent is repeated in them. */

#define ALLOWED "GET, HEAD, OPTIONS"

/* The colours of the welcome page (htdocs/style.css), in as few bytes as they need. */
static const char page_top[] =
    "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\">"
    "<meta name=\"viewport\" content=\"width=device-width\">"
    "<meta name=\"color-scheme\" content=\"light dark\">"
    "<style>body{margin:0;min-height:100vh;display:grid;place-items:center;text-align:center;"
    "background:#fbf8f1;color:#2a241d;font-family:system-ui,sans-serif}"
    "h1{margin:1rem;padding-top:1rem;border-top:5px solid #f4b942;overflow-wrap:anywhere}"
    "@media(prefers-color-scheme:dark){body{background:#181512;color:#efe8dc}"
    "h1{border-color:#c98a1b}}</style>";

/* The site's own page for this status, if it has one that can be read and is not a handler's source. */
static struct mk_file *open_page(struct mk_request *r, unsigned status)
{
    const struct mk_error_page *page = mk_site_error_page(r->site, status);
    struct mk_files *files = &r->view->files;
    struct mk_file *file;

    if (!page)
        return NULL;
    file = mk_files_get(files, mk_files_site_root(files, r->site), page->path,
                        r->worker->loop.clock.mono_ms);
    if (file && (file->kind != MK_FILE_REGULAR || mk_site_is_handled(r->site, file->path))) {
        mk_file_put(file);
        return NULL;
    }
    return file;
}

static void send_own_page(struct mk_reply *p, struct mk_request *r, struct mk_file *file)
{
    mk_reply_add(p, MK_STR("Content-Type"), file->type);
    if (mk_reply_finish(p, (int64_t)file->facts.size) < 0) {
        mk_file_put(file);
        mk_reply_break(r);
    } else if (mk_reply_file(r, file, 0, file->facts.size) < 0) {
        mk_reply_break(r);
    }
}

static void send_small_page(struct mk_reply *p, struct mk_request *r, unsigned status,
                            struct mk_str location)
{
    struct mk_str reason = mk_status_reason(status);
    char *text = mk_arena_printf(&r->arena, "<title>%u %.*s</title><h1>%u %.*s</h1>\n", status,
                                 (int)reason.len, reason.p, status, (int)reason.len, reason.p);
    struct mk_str top = text ? MK_STR(page_top) : mk_str_from(NULL), body = mk_str_from(text);

    if (location.p)
        mk_reply_add(p, MK_STR("Location"), location);
    if (text)
        mk_reply_add(p, MK_STR("Content-Type"), MK_STR("text/html; charset=utf-8"));
    if (mk_reply_finish(p, (int64_t)(top.len + body.len)) < 0 || mk_reply_memory(r, top) < 0 ||
        mk_reply_memory(r, body) < 0)
        mk_reply_break(r);
}

/* Each is the site's to override. */
static void add_lines(struct mk_reply *p, struct mk_str lines)
{
    struct mk_str line, name, value;

    while (mk_field_next_line(&lines, &line, &name, &value))
        mk_reply_add(p, name, value);
}

static void send_error(struct mk_request *r, unsigned status, struct mk_str lines)
{
    struct mk_file *file;
    struct mk_reply p;

    if (mk_answering_is_settled(r)) {
        mk_reply_break(r);
        return;
    }
    mk_reply_forget(r);
    file = open_page(r, status);
    mk_count(&r->worker->counters.refused, 1);
    if (mk_reply_start(&p, r, status) < 0) {
        if (file)
            mk_file_put(file);
        mk_reply_break(r);
        return;
    }
    add_lines(&p, lines);
    if (file)
        send_own_page(&p, r, file);
    else
        send_small_page(&p, r, status, (struct mk_str){NULL, 0});
}

/* RFC 9110 section 15.5.6 */
static struct mk_str lines_of(unsigned status)
{
    return status == 405 ? MK_STR("Allow: " ALLOWED "\r\n") : (struct mk_str){"", 0};
}

void mk_reply_page(struct mk_request *r, unsigned status, bool close)
{
    if (close)
        r->keep_alive = false;
    send_error(r, status, lines_of(status));
}

void mk_reply_range_error(struct mk_request *r, uint64_t size)
{
    char *line =
        mk_arena_printf(&r->arena, "Content-Range: bytes */%llu\r\n", (unsigned long long)size);

    send_error(r, 416, mk_str_from(line));
}

unsigned mk_reply_note_refusal(struct mk_request *r, enum mk_refusal refusal)
{
    unsigned status = mk_refusal_status(refusal);

    mk_log_peer(mk_worker_log(r->worker), status >= 500 ? MK_LOG_WARN : MK_LOG_DEBUG, MK_LOG_HTTP,
                "refused conn=%llu status=%u why=\"%s\"", (unsigned long long)r->id, status,
                mk_refusal_text(refusal));
    r->reason = mk_refusal_text(refusal);
    mk_count(&r->worker->counters.reasons[mk_reason_of_refusal(refusal)], 1);
    return status;
}

void mk_reply_refuse(struct mk_request *r, enum mk_refusal refusal)
{
    bool ends = refusal == MK_REFUSAL_PATH_BAD || refusal == MK_REFUSAL_BODY_LARGE ||
                refusal == MK_REFUSAL_BODY_BAD || refusal == MK_REFUSAL_BODY_SLOW ||
                refusal == MK_REFUSAL_HEAD_SLOW;

    mk_reply_page(r, mk_reply_note_refusal(r, refusal), ends);
}

void mk_reply_options(struct mk_request *r)
{
    struct mk_reply p;

    if (mk_reply_start(&p, r, 204) < 0) {
        mk_reply_break(r);
        return;
    }
    mk_reply_add(&p, MK_STR("Allow"), MK_STR(ALLOWED));
    if (mk_reply_finish(&p, 0) < 0)
        mk_reply_break(r);
}

/* ---- whole answers for plugins ---- */

enum mk_verdict mk_reply_redirect(struct mk_request *r, unsigned status, struct mk_str location)
{
    bool can_be = status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
    struct mk_reply p;

    if (!can_be || location.len == 0 || !mk_field_is_value(location)) {
        (void)mk_misuse_log(r, "an invalid redirect", MK_E_INVALID);
        mk_reply_page(r, 500, true);
        return MK_VERDICT_DONE;
    }
    if (mk_reply_begin(&p, r, status) == 0)
        send_small_page(&p, r, status, location);
    return MK_VERDICT_DONE;
}

static bool are_lines(struct mk_str lines)
{
    struct mk_str line, name, value;

    while (lines.len > 0) {
        if (!mk_field_next_line(&lines, &line, &name, &value) ||
            (mk_field_rules(name) & MK_RULE_MESSAGE))
            return false;
    }
    return true;
}

enum mk_verdict mk_reply_error(struct mk_request *r, unsigned status, const char *lines)
{
    struct mk_str text = lines ? mk_str_from(lines) : lines_of(status);

    if (mk_answering_is_settled(r)) {
        (void)mk_misuse_log(r, "a second answer", MK_E_EXISTS);
    } else if (status < 400 || status > 599 || !are_lines(text)) {
        (void)mk_misuse_log(r, "an invalid error page", MK_E_INVALID);
        mk_reply_page(r, 500, true);
    } else {
        if (status == 408) /* nobody waits for the rest of it (RFC 9110 section 15.5.9) */
            r->keep_alive = false;
        send_error(r, status, text);
    }
    return MK_VERDICT_DONE;
}

enum mk_verdict mk_reply_bytes(struct mk_request *r, unsigned status, const char *type,
                               struct mk_str body)
{
    struct mk_str copy = {body.len > 0 ? mk_arena_strdup(&r->arena, body) : "", body.len};
    struct mk_reply p;

    if (!copy.p) {
        mk_reply_refuse(r, MK_REFUSAL_NO_MEMORY);
        return MK_VERDICT_DONE;
    }
    if (mk_reply_begin(&p, r, status) < 0)
        return MK_VERDICT_DONE;
    if (type && !mk_field_is_value(mk_str_from(type)))
        p.error = MK_E_INVALID;
    else if (type) /* a name that needs no judgement */
        mk_reply_add(&p, MK_STR("Content-Type"), mk_str_from(type));
    if (mk_reply_end(&p, (int64_t)body.len) == 0)
        (void)!mk_reply_memory(r, copy);
    return MK_VERDICT_DONE;
}
