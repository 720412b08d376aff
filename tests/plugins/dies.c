/* SPDX-License-Identifier: Apache-2.0 */
#include "reply.h"

#include <monkey/plugin.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* Ends its process: where it is told in its life, or for a request whose path says how. */

enum at { AT_NOWHERE, AT_START, AT_RESTART, AT_STOP, AT_OVERFLOW, AT_SLOWLY };

struct settings {
    int at;
};

static const char *const at_names[] = {"nowhere",  "start",  "restart", "stop",
                                       "overflow", "slowly", NULL};

static const struct mk_field fields[] = {
    {.name = "At",
     .type = MK_FIELD_ENUM,
     .names = at_names,
     .offset = offsetof(struct settings, at),
     .fallback = "nowhere"},
};
static const struct mk_section_spec section =
    MK_SECTION("DIES", MK_SECTION_FILE, struct settings, fields);
static const struct mk_section_spec *const sections[] = {&section, NULL};

/* Sanitizers would report it, and then exit. */
static void fault(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)kill(getpid(), SIGKILL);
#else
    static int *volatile nothing;

    *nothing = 1; /* NOLINT: this is what it is for */
#endif
}

/* Frame by frame, none of which steps over the guard below the stack. */
static int overflow(int depth) /* NOLINT: this is what it is for */
{
    volatile char frame[1024];

    frame[0] = (char)depth;
    return depth == 0 ? 0 : overflow(depth - 1) + frame[0];
}

static int check(struct mk_setup *setup)
{
    mk_setup_keep(setup, mk_setup_section(setup, &section, NULL));
    return 0;
}

/* With "restart" and "overflow" the first configuration of a process starts, and the next does not. */
static int start(const struct mk_context *ctx, const struct mk_context *old)
{
    const struct settings *s = ctx->config;

    if (s->at == AT_START || (s->at == AT_RESTART && old))
        fault();
    if (s->at == AT_OVERFLOW && old)
        (void)overflow(1 << 30);
    return 0;
}

static void stop(const struct mk_context *ctx)
{
    if (((const struct settings *)ctx->config)->at == AT_STOP)
        fault();
}

/* It does not end the process, which ends by itself: it cannot serve. */
static int worker_start(const struct mk_context *ctx, void **local)
{
    *local = NULL;
    if (((const struct settings *)ctx->config)->at != AT_SLOWLY)
        return 0;
    (void)sleep(2);
    mk_plugin_why(ctx, "it took too long");
    return MK_E_INVALID;
}

static bool is_path(const struct mk_request *r, struct mk_str wanted)
{
    struct mk_str path = mk_request_path(r);

    return path.len == wanted.len && memcmp(path.p, wanted.p, path.len) == 0;
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    (void)ctx;
    (void)data;
    if (is_path(r, MK_STR("/fault")))
        fault();
    if (is_path(r, MK_STR("/overflow")))
        (void)overflow(1 << 30);
    if (is_path(r, MK_STR("/abort")))
        abort();
    if (is_path(r, MK_STR("/kill")))
        (void)kill(getpid(), SIGKILL);
    if (is_path(r, MK_STR("/exit")))
        _exit(3);
    return reply_text(r, MK_STR("lives"));
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("dies", "for the tests of the keeper"),
    .sections = sections,
    .check = check,
    .start = start,
    .stop = stop,
    .worker_start = worker_start,
    .on_handle = on_handle,
};
MK_PLUGIN_EXPORT(plugin);
