/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "server/handler.h"
#include "server/reply.h"

/* The built-in test handler: answers with the request's head and body as they were understood. */

static ssize_t produce_body(struct mk_request *r, void *arg, char *dst, size_t len)
{
    (void)arg;
    return mk_request_read(r, dst, len);
}

static enum mk_verdict echo_on_request(struct mk_request *r)
{
    struct mk_str head = mk_request_raw_head(r);
    char *copy = mk_arena_printf(&r->arena, "%.*s\r\n", (int)head.len, head.p);
    struct mk_reply p;

    if (!copy || mk_reply_begin(&p, r, 200) < 0) {
        mk_reply_refuse(r, MK_REFUSAL_NO_MEMORY);
        return MK_VERDICT_DONE;
    }
    mk_reply_line(&p, MK_STR("Content-Type"), MK_STR("text/plain; charset=utf-8"));
    mk_reply_line(&p, MK_STR("Cache-Control"), MK_STR("no-store"));
    if (mk_reply_end(&p, r->body_done ? (int64_t)head.len + 2 : -1) < 0 ||
        mk_reply_memory(r, (struct mk_str){copy, head.len + 2}) < 0 ||
        (!r->body_done && mk_reply_producer(r, produce_body, NULL) < 0))
        r->failed = true;
    return MK_VERDICT_DONE;
}

static const struct mk_handler echo = {.name = "echo", .reads_body = true, .on_request = echo_on_request};

const struct mk_handler *mk_handler_find(struct mk_str name)
{
    return mk_str_ieq(name, MK_STR("echo")) ? &echo : NULL;
}
