/* SPDX-License-Identifier: Apache-2.0 */
#include "compat/1.8/mk_lib_int.h"

#include "compat/bytes.h"
#include "compat/reply.h"

#include <monkey/plugin.h>

#include <stdlib.h>

/* Handlers of a program as routes of a plugin, and their answers. */

static _Thread_local const struct mk_worker *own_worker;

bool mk_lib_is_on(const struct mk_worker *w)
{
    return own_worker == w;
}

/* One configuration: its sites are the virtual hosts, in order. */
struct plan {
    struct mk_lib *lib;
    const struct mk_lib_vhost *next; /* NULL: the program made none */
};

/* Bytes that were flushed. */
struct piece {
    struct piece *next;
    struct mk_compat_bytes bytes;
};

struct request {
    mk_request_t is;
    struct mk_request *r;
    struct mk_compat_bytes body, lines, content;
    struct piece *pieces;
    int status;
    bool has_head; /* of the answer */
    bool is_done;
};

static int check(struct mk_setup *setup)
{
    struct mk_lib *lib = mk_setup_argument(setup);
    struct plan *plan = mk_setup_alloc(setup, sizeof(*plan));

    if (!plan)
        return MK_E_NOMEM;
    *plan = (struct plan){lib, lib->vhosts};
    mk_setup_keep(setup, plan);
    return 0;
}

static int check_site(struct mk_setup *setup)
{
    struct plan *plan = mk_setup_config(setup);
    const struct mk_lib_vhost *vhost = plan->next;

    if (!vhost)
        return 0;
    plan->next = vhost->next;
    for (struct mk_lib_handler *h = vhost->handlers; h; h = h->next) {
        if (mk_setup_route(setup, mk_str_from(h->pattern), h, NULL, false) == MK_E_NOMEM)
            return MK_E_NOMEM;
    }
    return 0;
}

static int worker_start(const struct mk_context *ctx, void **local)
{
    const struct plan *plan = ctx->config;
    const struct mk_compat *before = mk_compat_enter(&plan->lib->c);

    (void)local;
    own_worker = ctx->worker;
    for (struct mk_lib_worker_callback *at = plan->lib->callbacks; at; at = at->next)
        at->cb(at->data);
    mk_compat_leave(before);
    return 0;
}

static void end_request(void *request)
{
    struct request *q = request;

    mk_compat_bytes_free(&q->body);
    mk_compat_bytes_free(&q->lines);
    mk_compat_bytes_free(&q->content);
    while (q->pieces) {
        struct piece *piece = q->pieces;

        q->pieces = piece->next;
        mk_compat_bytes_free(&piece->bytes);
        free(piece);
    }
}

static struct request *request_of(struct mk_request *r)
{
    struct request *q = mk_request_kept(r, &mk_lib_plugin);

    if (q)
        return q;
    q = mk_request_alloc(r, sizeof(*q));
    if (!q)
        return NULL;
    memset(q, 0, sizeof(*q));
    q->r = r;
    if (mk_request_on_end(r, end_request, q) < 0 || mk_request_keep(r, &mk_lib_plugin, q) < 0)
        return NULL;
    return q;
}

/* @return whether there was memory. */
static bool copy(struct mk_request *r, struct mk_str from, mk_ptr_t *to)
{
    *to = (mk_ptr_t){NULL, 0};
    if (!from.p)
        return true;
    to->data = mk_request_alloc(r, from.len + 1);
    if (!to->data)
        return false;
    memcpy(to->data, from.p, from.len);
    to->data[from.len] = '\0';
    to->len = from.len;
    return true;
}

static bool fill(struct request *q, const struct mk_request_facts *facts)
{
    q->is.data = (mk_ptr_t){facts->content_length ? q->body.p : NULL, q->body.len};
    return copy(q->r, facts->method, &q->is.method) &&
           copy(q->r, facts->path, &q->is.uri_processed) &&
           copy(q->r, facts->query, &q->is.query_string);
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    const struct mk_lib_handler *handler = data;
    const struct plan *plan = ctx->config;
    struct request *q = request_of(r);
    const struct mk_compat *before;

    if (!q)
        return mk_reply_error(r, 503, NULL);
    mk_request_facts(r, &facts);
    if (facts.content_length != 0) {
        enum mk_verdict verdict = mk_compat_body(&q->body, r);

        if (verdict != MK_VERDICT_PASS)
            return verdict;
        mk_request_facts(r, &facts);
    }
    if (!fill(q, &facts))
        return mk_reply_error(r, 503, NULL);
    before = mk_compat_enter(&plan->lib->c);
    handler->cb(&q->is, handler->data);
    if (q->status != 0 && !q->is_done)
        (void)mk_http_done(&q->is);
    mk_compat_leave(before);
    if (q->status != 0)
        return MK_VERDICT_DONE;
    mk_request_log(r, MK_LOG_ERROR, "a handler of the program gave no status");
    return mk_reply_error(r, 500, NULL);
}

const struct mk_plugin mk_lib_plugin = {
    MK_PLUGIN("mk_lib", "handlers of a program for monkey/mk_lib.h"),
    .check = check,
    .check_site = check_site,
    .worker_start = worker_start,
    .on_handle = on_handle,
};

/* ---- the answer ---- */

/* @return the request of a call that may still change what is asked for; NULL after a warning. */
static struct request *open_request(mk_request_t *request, bool changes_head, const char *call)
{
    struct request *q = (struct request *)(void *)request;

    if (!q)
        mk_compat_warn(call, "the request is NULL");
    else if (q->is_done)
        mk_compat_warn(call, "the answer is complete");
    else if (changes_head && q->has_head)
        mk_compat_warn(call, "status and fields were flushed");
    else
        return q;
    return NULL;
}

int mk_http_status(mk_request_t *request, int status)
{
    struct request *q = open_request(request, true, __func__);

    if (!q)
        return -1;
    if (status < 200 || status > 599) {
        mk_compat_warn(__func__, "%d is no status of an answer", status);
        return -1;
    }
    q->status = status;
    return 0;
}

int mk_http_header(mk_request_t *request, const char *key, int key_len, const char *val,
                   int val_len)
{
    struct request *q = open_request(request, true, __func__);

    if (!q)
        return -1;
    if (!key || key_len <= 0 || val_len < 0 || (!val && val_len > 0)) {
        mk_compat_warn(__func__, "the field has no name or value");
        return -1;
    }
    if (memchr(key, '\n', (size_t)key_len) || (val_len > 0 && memchr(val, '\n', (size_t)val_len))) {
        mk_compat_warn(__func__, "a field has one line");
        return -1;
    }
    if (mk_compat_bytes_add(&q->lines, key, (size_t)key_len) &&
        mk_compat_bytes_add(&q->lines, ": ", 2) &&
        mk_compat_bytes_add(&q->lines, val, (size_t)val_len) &&
        mk_compat_bytes_add(&q->lines, "\r\n", 2))
        return 0;
    mk_compat_warn(__func__, "out of memory");
    return -1;
}

/* @return the request of a call that needs a status. */
static struct request *with_status(mk_request_t *request, const char *call)
{
    struct request *q = open_request(request, false, call);

    if (!q || q->status != 0)
        return q;
    mk_compat_warn(call, "set the status first");
    return NULL;
}

int mk_http_send(mk_request_t *request, const char *buf, size_t len,
                 void (*cb_finish)(mk_request_t *request))
{
    struct request *q = with_status(request, __func__);

    if (!q)
        return -1;
    if (!buf && len > 0) {
        mk_compat_warn(__func__, "the bytes are NULL");
        return -1;
    }
    if (!mk_compat_bytes_add(&q->content, buf, len)) {
        mk_compat_warn(__func__, "out of memory");
        return -1;
    }
    mk_request_hold(q->r, q->content.room);
    if (cb_finish)
        cb_finish(request);
    return 0;
}

static int begin(struct request *q, int64_t length)
{
    const struct mk_str lines = {q->lines.p, q->lines.len};

    q->has_head = true;
    return mk_compat_reply(q->r, (unsigned)q->status, lines, length);
}

/* The bytes stay where they are until the request ends. */
static int queue(struct request *q)
{
    return q->content.len == 0
               ? 0
               : mk_reply_memory(q->r, (struct mk_str){q->content.p, q->content.len});
}

int mk_http_flush(mk_request_t *request)
{
    struct request *q = with_status(request, __func__);
    struct piece *piece = q ? calloc(1, sizeof(*piece)) : NULL;
    int err = 0;

    if (!piece) {
        if (q)
            mk_compat_warn(__func__, "out of memory");
        return -1;
    }
    if (!q->has_head)
        err = begin(q, -1);
    if (err == 0)
        err = queue(q);
    piece->bytes = q->content;
    piece->next = q->pieces;
    q->pieces = piece;
    q->content = (struct mk_compat_bytes){0};
    return err < 0 ? -1 : 0;
}

int mk_http_done(mk_request_t *request)
{
    struct request *q = with_status(request, __func__);
    int err = 0;

    if (!q)
        return -1;
    q->is_done = true;
    if (!q->has_head)
        err = begin(q, (int64_t)q->content.len);
    if (err == 0)
        err = queue(q);
    return err < 0 ? -1 : 0;
}
