/* SPDX-License-Identifier: Apache-2.0 */
#define MK_PLUGIN_STATIC
#include "base/str.h"
#include "server/answer/reply.h"

#include <monkey/plugin.h>

/* The built-in test handler: answers with the request's head and body as they were understood. */

enum { FIRST_MAX = 1024 };

static ssize_t produce_body(struct mk_request *r, void *arg, char *dst, size_t len)
{
    (void)arg;
    return mk_request_read(r, dst, len);
}

static void answer(struct mk_request *r, struct mk_str text)
{
    struct mk_reply p;

    if (mk_reply_begin(&p, r, 200) < 0) {
        r->failed = true;
        return;
    }
    mk_reply_line(&p, MK_STR("Content-Type"), MK_STR("text/plain; charset=utf-8"));
    mk_reply_line(&p, MK_STR("Cache-Control"), MK_STR("no-store"));
    if (mk_reply_end(&p, r->body_done ? (int64_t)text.len : -1) < 0 ||
        mk_reply_memory(r, text) < 0 ||
        (!r->body_done && mk_reply_producer(r, produce_body, NULL) < 0))
        r->failed = true;
}

static void refuse(struct mk_request *r, ssize_t err)
{
    switch (err) {
    case MK_E_LIMIT:
        mk_reply_refuse(r, MK_REFUSAL_BODY_LARGE);
        break;
    case MK_E_NOMEM:
        mk_reply_refuse(r, MK_REFUSAL_NO_MEMORY);
        break;
    default:
        mk_reply_refuse(r, MK_REFUSAL_BODY_BAD);
    }
}

static enum mk_verdict echo_on_handle(struct mk_request *r, const struct mk_context *ctx, void *arg)
{
    char first[FIRST_MAX];
    ssize_t n = r->body_done ? 0 : mk_request_read(r, first, sizeof(first));
    struct mk_str head;
    char *text;

    (void)ctx;
    (void)arg;
    if (n == MK_E_AGAIN)
        return MK_VERDICT_LATER;
    head = mk_request_raw_head(r); /* reading may have moved it */
    text = n < 0 ? NULL : mk_arena_alloc(&r->arena, head.len + 2 + (size_t)n);
    if (!text) {
        refuse(r, n < 0 ? n : MK_E_NOMEM);
        return MK_VERDICT_DONE;
    }
    memcpy(text, head.p, head.len);
    memcpy(text + head.len, "\r\n", 2);
    memcpy(text + head.len + 2, first, (size_t)n);
    answer(r, (struct mk_str){text, head.len + 2 + (size_t)n});
    return MK_VERDICT_DONE;
}

static const struct mk_plugin echo = {
    MK_PLUGIN("echo", "answers with what was asked"),
    .on_handle = echo_on_handle,
    .traits = MK_TRAIT_ALWAYS,
};
MK_PLUGIN_EXPORT(echo);
