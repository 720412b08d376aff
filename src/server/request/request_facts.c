/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "base/str.h"
#include "http/field.h"
#include "http/mime.h"
#include "http/uri_reading.h"
#include "server/files/files.h"
#include "server/request/request_state.h"
#include "server/request/wire.h"
#include "server/worker/worker.h"

#include <stdio.h>

/* What plugins see of a request: <monkey/request.h>. */

/* A log that is written at the end tells what was asked. */
static struct mk_str method_of(const struct mk_request *r)
{
    if (r->moved && !mk_asking_is_over(r))
        return r->head.method == MK_METHOD_HEAD ? MK_STR("HEAD") : MK_STR("GET");
    return mk_request_text(r, r->head.method_name);
}

int64_t mk_request_content_length(const struct mk_request *r)
{
    if (r->moved)
        return 0;
    return r->head.chunked ? -1 : (int64_t)r->head.content_length;
}

/* The second word, for logs that want the target alone; all the rest of what has no version. */
static struct mk_str target_of_line(struct mk_str line)
{
    const char *blank = line.p ? memchr(line.p, ' ', line.len) : NULL, *last;
    struct mk_str target = {NULL, 0};

    if (!blank)
        return target;
    target = mk_str_skip(line, (size_t)(blank + 1 - line.p));
    last = memrchr(target.p, ' ', target.len);
    if (last &&
        mk_str_has_prefix(mk_str_skip(target, (size_t)(last + 1 - target.p)), MK_STR("HTTP/")))
        target.len = (size_t)(last - target.p);
    return target;
}

struct mk_str mk_request_method(const struct mk_request *r)
{
    return method_of(r);
}

struct mk_str mk_request_path(const struct mk_request *r)
{
    return r->path;
}

bool mk_request_is_whole(const struct mk_request *r)
{
    return mk_asking_is_over(r) && r->answering == MK_ANSWERING_ENDED;
}

struct mk_request_result mk_request_result(const struct mk_request *r)
{
    return (struct mk_request_result){
        .status = r->status,
        .took_ms = (uint32_t)(r->worker->loop.clock.mono_ms - r->began_ms),
        .body_sent = r->body_sent,
    };
}

static inline void fill_asked(struct mk_request_facts *facts, const struct mk_request *r)
{
    facts->conn = r->conn;
    facts->worker = r->worker;
    facts->server = r->worker->server;
    facts->method = method_of(r);
    facts->target = mk_request_text(r, r->head.target);
    facts->path = r->path;
    facts->query = mk_request_query(r);
    facts->host = mk_request_authority(r);
    facts->scheme = r->is_secure ? "https" : "http";
    facts->minor = r->head.minor;
    facts->content_length = mk_request_content_length(r);
    facts->began_ms = r->began_ms;
}

static void fill(struct mk_request_facts *facts, const struct mk_request *r)
{
    const struct mk_site_settings *site = &r->site->set;

    fill_asked(facts, r);
    facts->status = r->status;
    facts->body_sent = r->body_sent;
    facts->whole = mk_request_is_whole(r);
    facts->document_root = site->document_root;
    facts->site_name = site->names.count > 0 ? site->names.items[0].p : "";
    facts->user = r->user;
    facts->reason = r->reason;
    facts->request_line = mk_asking_is_over(r) && r->wire->refused_line ? r->wire->refused_line(r)
                                                                        : (struct mk_str){NULL, 0};
    if (facts->request_line.p && facts->target.len == 0)
        facts->target = target_of_line(facts->request_line);
    facts->symlinks = site->symlink;
    facts->protocol = r->wire->version ? r->wire->version(r) : mk_h1_head_version(&r->head);
    facts->body_received = r->body.total;
    facts->is_inner = r->reroutes > 0;
}

/* Every line of a log asks: only who was built with a shorter struct gets a copy. */
void mk_request_facts(const struct mk_request *r, struct mk_request_facts *facts)
{
    struct mk_request_facts all;

    if (facts->size == MK_REQUEST_ASKED) {
        fill_asked(facts, r);
        return;
    }
    if (facts->size >= sizeof(all)) {
        fill(facts, r);
        return;
    }
    all.size = facts->size;
    fill(&all, r);
    memcpy(facts, &all, facts->size);
}

/* The bits of a number, spread over those of a mask. */
static unsigned spread(unsigned number, unsigned mask)
{
    unsigned bits = 0;

    for (unsigned bit = 1; bit <= mask; bit <<= 1) {
        if (!(mask & bit))
            continue;
        if (number & 1)
            bits |= bit;
        number >>= 1;
    }
    return number ? 0 : bits;
}

int mk_request_reading(struct mk_request *r, unsigned number, struct mk_str *path)
{
    unsigned readings;
    char *text;

    *path = r->path;
    if (number == 0)
        return 1;
    if (!r->site->set.lenient_paths || r->path.len == 0)
        return 0;
    readings = spread(number, mk_uri_readings(r->path));
    if (readings == 0)
        return 0;
    text = mk_arena_alloc(&r->arena, r->path.len + 1);
    if (!text)
        return MK_E_NOMEM;
    path->p = text;
    path->len = mk_uri_read(r->path, readings, text);
    text[path->len] = '\0';
    return 1;
}

void *mk_request_site_at(const struct mk_request *r, const struct mk_context *ctx,
                         struct mk_str path)
{
    ptrdiff_t rows = (ptrdiff_t)mk_site_at(r->site, path)->index - (ptrdiff_t)r->site->index;

    return ctx[rows * (ptrdiff_t)r->view->snapshot->nplugins].site;
}

int mk_request_set_user(struct mk_request *r, struct mk_str user)
{
    r->user = (struct mk_str){mk_arena_strdup(&r->arena, user), user.len};
    return r->user.p ? 0 : MK_E_NOMEM;
}

struct mk_str mk_request_header(const struct mk_request *r, struct mk_str name)
{
    return mk_h1_head_find(&r->head, r->text, name);
}

static void fill_headers(struct mk_request_headers *headers, const struct mk_request *r)
{
    headers->content_type = mk_request_field(r, MK_FIELD_CONTENT_TYPE);
    headers->connection = mk_request_field(r, MK_FIELD_CONNECTION);
    headers->if_modified_since = mk_request_field(r, MK_FIELD_IF_MODIFIED_SINCE);
    headers->range = mk_request_field(r, MK_FIELD_RANGE);
}

/* Callers who were built with a shorter struct get a copy. */
void mk_request_headers(const struct mk_request *r, struct mk_request_headers *headers)
{
    struct mk_request_headers all = {.size = headers->size};

    if (headers->size >= sizeof(all)) {
        fill_headers(headers, r);
        return;
    }
    fill_headers(&all, r);
    memcpy(headers, &all, headers->size);
}

bool mk_request_next_header(const struct mk_request *r, uint32_t *at, struct mk_str *name,
                            struct mk_str *value)
{
    return mk_h1_head_next_field(&r->head, r->text, at, name, value);
}

bool mk_request_next_trailer(const struct mk_request *r, uint32_t *at, struct mk_str *name,
                             struct mk_str *value)
{
    struct mk_str lines = {r->trailers, r->body.trailers}, line;

    if (!r->trailers || !mk_receiving_is_done(r))
        return false;
    lines = mk_str_skip(lines, *at);
    if (!mk_field_next_line(&lines, &line, name, value))
        return false;
    *at += (uint32_t)line.len;
    return true;
}

void *mk_request_alloc(struct mk_request *r, size_t size)
{
    return mk_arena_alloc(&r->arena, size);
}

char *mk_request_printf(struct mk_request *r, const char *fmt, ...)
{
    va_list args;
    char *text;

    va_start(args, fmt);
    text = mk_arena_vprintf(&r->arena, fmt, args);
    va_end(args);
    return text;
}

int mk_request_on_end(struct mk_request *r, void (*fn)(void *arg), void *arg)
{
    return mk_arena_on_free(&r->arena, fn, arg);
}

struct mk_kept {
    struct mk_kept *next;
    const void *key;
    void *object;
};

int mk_request_keep(struct mk_request *r, const void *key, void *object)
{
    struct mk_kept *kept = r->kept;

    while (kept && kept->key != key)
        kept = kept->next;
    if (!kept) {
        kept = mk_arena_alloc(&r->arena, sizeof(*kept));
        if (!kept)
            return MK_E_NOMEM;
        *kept = (struct mk_kept){.next = r->kept, .key = key};
        r->kept = kept;
    }
    kept->object = object;
    return 0;
}

void *mk_request_kept(const struct mk_request *r, const void *key)
{
    const struct mk_kept *kept = r->kept;

    while (kept && kept->key != key)
        kept = kept->next;
    return kept ? kept->object : NULL;
}

void mk_request_reason(struct mk_request *r, const char *text)
{
    r->reason = text ? mk_arena_strdup(&r->arena, mk_str_from(text)) : NULL;
}

void mk_request_ends_on_hangup(struct mk_request *r, bool on)
{
    r->ends_on_hangup = on;
}

void mk_request_timeout(struct mk_request *r, unsigned ms)
{
    if (mk_asking_is_over(r))
        return;
    r->patience_ms = ms;
    r->wire->renew_timeout(r);
}

static bool may_take(const struct mk_request *r)
{
    bool switches = r->status == 101 ||
                    (r->head.form == MK_TARGET_AUTHORITY && r->status >= 200 && r->status < 300);

    bool has_head = mk_answering_is_open(r) || r->answering == MK_ANSWERING_ENDED;

    return switches && has_head && !mk_asking_is_over(r) && !r->first && mk_receiving_is_done(r);
}

int mk_request_take(struct mk_request *r, struct mk_stream **stream, mk_stream_fn fn, void *arg)
{
    *stream = NULL;
    if (!may_take(r))
        return MK_E_INVALID;
    return r->wire->take ? r->wire->take(r, stream, fn, arg) : MK_E_UNSUPPORTED;
}

int mk_request_on_taken_end(const struct mk_request *r, mk_taken_fn fn, void *arg)
{
    return r->wire->watch_taken ? r->wire->watch_taken(r, fn, arg) : MK_E_NOENT;
}

void mk_log_of_plugin(const struct mk_worker *w, uint64_t id, const char *peer,
                      enum mk_log_level level, const char *fmt, va_list args)
{
    struct mk_log *log = mk_worker_log(w);
    char text[MK_LIMIT_LOG_LINE];

    if (!mk_log_wants(log, level, MK_LOG_PLUGIN))
        return;
    (void)vsnprintf(text, sizeof(text), fmt, args);
    mk_log_peer(log, level, MK_LOG_PLUGIN, "%s conn=%llu peer=%s", text, (unsigned long long)id,
                peer);
}

void mk_request_log_slow_handler(const struct mk_request *r)
{
    mk_log_peer(mk_worker_log(r->worker), MK_LOG_ERROR, MK_LOG_PLUGIN,
                "plugin did not answer within HandlerTimeout plugin=%s conn=%llu",
                r->asked ? r->asked->name : "?", (unsigned long long)r->id);
}

bool mk_request_logs(const struct mk_request *r, enum mk_log_level level)
{
    return mk_log_wants(mk_worker_log(r->worker), level, MK_LOG_PLUGIN);
}

void mk_request_log(const struct mk_request *r, enum mk_log_level level, const char *fmt, ...)
{
    char peer[MK_PEER_TEXT] = "none";
    va_list args;

    if (!mk_request_logs(r, level))
        return;
    if (r->wire->peer)
        r->wire->peer(r, peer);
    va_start(args, fmt);
    mk_log_of_plugin(r->worker, r->id, peer, level, fmt, args);
    va_end(args);
}

struct mk_str mk_request_mime(const struct mk_request *r, struct mk_str file_name)
{
    return mk_mime_of(&r->view->snapshot->mime, file_name);
}

int mk_request_open(struct mk_request *r, struct mk_str path)
{
    struct mk_files *files = &r->view->files;
    struct mk_file_root *root = mk_files_site_root(files, r->site);
    struct mk_file_facts facts;
    char *copy;

    mk_files_refresh_root(&r->view->files, root, r->worker->loop.clock.mono_ms);
    copy = mk_arena_strdup(&r->arena, path); /* it is to be terminated */
    if (!copy)
        return MK_E_NOMEM;
    return mk_file_open_at(files, root, (struct mk_str){copy, path.len}, &facts);
}
