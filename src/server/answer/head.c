/* SPDX-License-Identifier: Apache-2.0 */
#include "server/answer/head.h"

#include "base/str.h"
#include "http/field.h"
#include "server/answer/filter.h"
#include "server/answer/misuse.h"
#include "server/answer/reply.h"
#include "server/request/wire.h"
#include "server/worker/worker.h"

#include <monkey/field.h>

/* ---- reading ---- */

unsigned mk_head_status(const struct mk_head *head)
{
    return head->p->status;
}

int64_t mk_head_length(const struct mk_head *head)
{
    return head->length;
}

static struct mk_str lines_of(const struct mk_head *head)
{
    return (struct mk_str){head->p->start, (size_t)(head->p->at - head->p->start)};
}

bool mk_head_next(const struct mk_head *head, uint32_t *at, struct mk_str *name,
                  struct mk_str *value)
{
    struct mk_str lines = mk_str_skip(lines_of(head), *at), line;

    if (!mk_field_next_line(&lines, &line, name, value))
        return false;
    *at += (uint32_t)line.len;
    return true;
}

struct mk_str mk_head_get(const struct mk_head *head, struct mk_str name)
{
    struct mk_str found, value;
    uint32_t at = 0;

    while (mk_head_next(head, &at, &found, &value)) {
        if (mk_str_ieq(found, name))
            return value;
    }
    return (struct mk_str){NULL, 0};
}

/* ---- changing ---- */

static void drop(struct mk_head *head, struct mk_str name)
{
    head->p->at = mk_field_drop(head->p->start, head->p->at, name);
}

static void append(struct mk_reply *p, struct mk_str bytes)
{
    if (bytes.len > 0)
        memcpy(p->at, bytes.p, bytes.len);
    p->at += bytes.len;
}

int mk_head_set(struct mk_head *head, struct mk_str name, struct mk_str value)
{
    struct mk_reply *p = head->p;

    if (!mk_field_is_name(name) || (mk_field_rules(name) & MK_RULE_MESSAGE) ||
        !mk_field_is_value(value))
        return MK_E_INVALID;
    if (value.p && name.len + value.len + 4 > (size_t)(p->end - p->at)) {
        int err = mk_reply_grow(p, name.len + value.len + 4);

        if (err < 0)
            return err;
    }
    drop(head, name);
    if (value.p) {
        append(p, name);
        append(p, MK_STR(": "));
        append(p, value);
        append(p, MK_STR("\r\n"));
    }
    return 0;
}

/* Bytes that are changed on their way are not what a strong tag names: RFC 9110 section 8.8.1. */
static int weaken_etag(struct mk_head *head)
{
    struct mk_str tag = mk_head_get(head, MK_STR("ETag"));
    char *weak;

    if (!tag.p || tag.len == 0 || mk_str_has_prefix(tag, MK_STR("W/")))
        return 0;
    weak = mk_arena_printf(&head->p->r->arena, "W/%.*s", (int)tag.len, tag.p);
    return weak ? mk_head_set(head, MK_STR("ETag"), mk_str_from(weak)) : MK_E_NOMEM;
}

/* What no longer holds when the body is changed on its way. */
static int unsay(struct mk_head *head)
{
    drop(head, MK_STR("Accept-Ranges"));
    drop(head, MK_STR("Content-Digest")); /* RFC 9530 sections 2 and 3 */
    drop(head, MK_STR("Repr-Digest"));
    head->length = -1;
    return weaken_etag(head);
}

int mk_head_filter(struct mk_head *head, mk_filter_fn fn, void *state)
{
    struct mk_request *r = head->p->r;
    unsigned status = head->p->status;
    int err = 0;

    if (status == 206)
        return MK_E_INVALID;
    if (status < 200 || status == 204 || status == 205 ||
        (r->head.method == MK_METHOD_CONNECT && status < 300))
        return 0;
    if (status != 304 && r->head.method != MK_METHOD_HEAD)
        err = mk_filter_add(r, fn, state);
    return err < 0 ? err : unsay(head);
}

/* ---- the hooks ---- */

static int ask(struct mk_request *r, struct mk_head *head)
{
    const struct mk_hooks *hooks = &r->site->on_head;

    for (size_t i = 0; i < hooks->count; i++) {
        const struct mk_hooked *who = &hooks->items[i];
        const struct mk_plugin *before;
        const char *hook;
        int err;

        if (who->is_limited && !mk_site_is_within(r->site, who, r->path))
            continue;
        before = mk_worker_doing(r->worker, &hook); /* a handler, whose answer begins */
        mk_worker_calls(r->worker, who->plugin, "on_head");
        err = who->plugin->on_head(r, mk_view_context(r->view, r->site, who->index), head);
        mk_worker_calls(r->worker, before, hook);
        if (err < 0)
            return mk_misuse_log(r, "a filter refused the head", err);
        if (mk_answering_is_broken(r) || !r->wire->has_head(head->p))
            return mk_misuse_log(r, "a filter sent an answer of its own", MK_E_INVALID);
    }
    return 0;
}

int mk_head_run(struct mk_reply *p, int64_t *length)
{
    struct mk_request *r = p->r;
    struct mk_head head = {.p = p, .length = *length};
    int err;

    if (p->error)
        return p->error;
    if (p->has_length)
        drop(&head, MK_STR("Content-Length"));
    p->has_length = false;
    r->filter = NULL;
    mk_answering_go(r, MK_ANSWERING_FILTERS);
    err = ask(r, &head);
    *length = head.length;
    if (err < 0)
        mk_reply_break(r);
    else
        mk_answering_go(r, MK_ANSWERING_HEAD);
    return err;
}
