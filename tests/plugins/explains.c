/* SPDX-License-Identifier: Apache-2.0 */
#include "reply.h"

#include <monkey/explain.h>

/* Explains itself in each stage; what would have effects refuses the start of the server. */

static int start(const struct mk_context *ctx, const struct mk_context *old)
{
    (void)old;
    mk_plugin_why(ctx, "it is only explained");
    return MK_E_INVALID;
}

static enum mk_verdict on_request(struct mk_request *r, const struct mk_context *ctx)
{
    (void)ctx;
    return reply_text(r, MK_STR("asked"));
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    (void)data;
    return on_request(r, ctx);
}

static enum mk_verdict on_directory(struct mk_request *r, const struct mk_context *ctx, int fd)
{
    (void)fd;
    return on_request(r, ctx);
}

static int on_head(struct mk_request *r, const struct mk_context *ctx, struct mk_head *head)
{
    (void)r, (void)ctx, (void)head;
    return MK_E_INVALID;
}

static enum mk_verdict explain(struct mk_request *r, const struct mk_context *ctx,
                               struct mk_explain *e)
{
    const struct mk_str path = mk_request_path(r);

    (void)ctx;
    switch (mk_explain_stage(e)) {
    case MK_EXPLAIN_REQUEST:
        mk_explain_say(e, mk_explain_place(e, "Key", MK_STR("value")), "looks at\n%.*s",
                       (int)path.len, path.p);
        return path.len > 1 && path.p[1] == 'c' ? MK_VERDICT_CLOSE : MK_VERDICT_PASS;
    case MK_EXPLAIN_HANDLE:
        mk_explain_say(e, NULL, "%s", mk_explain_data(e) ? "data" : "no data");
        return path.len > 1 && path.p[1] == 'p' ? MK_VERDICT_PASS : MK_VERDICT_DONE;
    case MK_EXPLAIN_DIRECTORY:
        break;
    }
    return mk_reply_error(r, 451, NULL);
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("explains", "for the tests of the host"),
    .start = start,
    .on_request = on_request,
    .on_handle = on_handle,
    .on_directory = on_directory,
    .on_head = on_head,
    .explain = explain,
};
MK_PLUGIN_EXPORT(plugin);
