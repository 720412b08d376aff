/* SPDX-License-Identifier: Apache-2.0 */
#include "reply.h"

#include <fcntl.h>
#include <monkey/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Writes down each step of its life, and fails at the one that it is told. */

enum fail { FAIL_NOWHERE, FAIL_CHECK, FAIL_SILENTLY, FAIL_START, FAIL_WORKER };

struct settings {
    const char *trace, *tag, *fixed;
    int fail;
    int64_t fail_worker;
};

static const char *const fail_names[] = {"nowhere", "check", "silently", "start", "worker", NULL};

static const struct mk_field fields[] = {
    {.name = "Trace", .type = MK_FIELD_PATH, .offset = offsetof(struct settings, trace)},
    {.name = "Tag",
     .type = MK_FIELD_STRING,
     .offset = offsetof(struct settings, tag),
     .fallback = "untagged"},
    {.name = "Fail",
     .type = MK_FIELD_ENUM,
     .names = fail_names,
     .offset = offsetof(struct settings, fail),
     .fallback = "nowhere"},
    {.name = "Fixed",
     .type = MK_FIELD_STRING,
     .flags = MK_FIELD_RESTART,
     .offset = offsetof(struct settings, fixed)},
    {.name = "FailWorker", .type = MK_FIELD_INT, .offset = offsetof(struct settings, fail_worker)},
};
static const struct mk_section_spec section =
    MK_SECTION("LIFE", MK_SECTION_FILE, struct settings, fields);
static const struct mk_section_spec *const sections[] = {&section, NULL};

static void trace(const struct settings *s, const char *step, int worker)
{
    char line[256];
    int len, fd = s->trace ? open(s->trace, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;

    if (fd < 0)
        return;
    if (worker < 0)
        len = snprintf(line, sizeof(line), "%s %s\n", s->tag, step);
    else
        len = snprintf(line, sizeof(line), "%s %s %d\n", s->tag, step, worker);
    if (len > 0 && write(fd, line, (size_t)len) < 0)
        abort();
    close(fd);
}

static int check(struct mk_setup *setup)
{
    struct settings *s = mk_setup_section(setup, &section, NULL);
    const struct mk_origin *at = mk_setup_origin(setup, s);

    trace(s, "check", -1);
    if (s->fail == FAIL_CHECK) {
        mk_setup_fault(setup, at, "told to fail in check");
        return MK_E_INVALID;
    }
    mk_setup_keep(setup, s);
    return s->fail == FAIL_SILENTLY ? MK_E_ACCESS : 0;
}

static int start(const struct mk_context *ctx, const struct mk_context *old)
{
    const struct settings *s = ctx->config, *before = old ? old->config : NULL;
    char step[64];

    (void)snprintf(step, sizeof(step), "start after %s", before ? before->tag : "nothing");
    trace(s, step, -1);
    if (s->fail != FAIL_START)
        return 0;
    mk_plugin_why(ctx, "told to fail with tag %s", s->tag);
    return MK_E_BUSY;
}

static void stop(const struct mk_context *ctx)
{
    trace(ctx->config, "stop", -1);
}

static int worker_start(const struct mk_context *ctx, void **local)
{
    const struct settings *s = ctx->config;
    int worker = (int)mk_worker_index(ctx->worker);

    if (s->fail == FAIL_WORKER && worker == (int)s->fail_worker)
        return MK_E_LIMIT; /* and says no more */
    trace(s, "worker_start", worker);
    *local = malloc(1);
    return *local ? 0 : MK_E_NOMEM;
}

static void worker_stop(const struct mk_context *ctx)
{
    trace(ctx->config, "worker_stop", (int)mk_worker_index(ctx->worker));
    free(ctx->local);
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    const struct settings *s = ctx->config;

    (void)data;
    return ctx->local ? reply_text(r, mk_str_from(s->tag)) : MK_VERDICT_CLOSE;
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("life", "for the tests of the host"),
    .sections = sections,
    .check = check,
    .start = start,
    .stop = stop,
    .worker_start = worker_start,
    .worker_stop = worker_stop,
    .on_handle = on_handle,
};
MK_PLUGIN_EXPORT(plugin);
