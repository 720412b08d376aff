/* SPDX-License-Identifier: Apache-2.0 */
#include "place.h"
#include "shell.h"

#include <monkey/plugin.h>

#include <sys/un.h>

/* A shell to look into a running server and to steer it. */

enum { LISTEN_STDIN, LISTEN_SERVER };
static const char *const listen_names[] = {"STDIN", "SERVER", NULL};

struct cheetah_settings {
    int listen;
    const char *socket, *group;
};

static const struct mk_field fields[] = {
    {.name = "Listen",
     .type = MK_FIELD_ENUM,
     .names = listen_names,
     .offset = offsetof(struct cheetah_settings, listen),
     .fallback = "SERVER"},
    {.name = "Socket", .type = MK_FIELD_PATH, .offset = offsetof(struct cheetah_settings, socket)},
    {.name = "Group",
     .type = MK_FIELD_STRING,
     .flags = MK_FIELD_RESTART,
     .offset = offsetof(struct cheetah_settings, group)},
};

static const struct mk_section_spec cheetah_section =
    MK_SECTION("CHEETAH", MK_SECTION_FILE, struct cheetah_settings, fields);
static const struct mk_section_spec *const sections[] = {&cheetah_section, NULL};

/** Of one configuration. */
struct cheetah {
    const struct cheetah_settings *set;
    struct shell *shell; /* from start to stop */
};

static int cheetah_check(struct mk_setup *setup)
{
    struct cheetah *c = mk_setup_alloc(setup, sizeof(*c));
    const size_t room = sizeof(((struct sockaddr_un *)0)->sun_path);
    struct place tried;

    if (!c)
        return MK_E_NOMEM;
    c->set = mk_setup_section(setup, &cheetah_section, NULL);
    if (c->set->socket && strlen(c->set->socket) >= room)
        mk_setup_fault(setup, mk_setup_place(setup, c->set, "Socket"),
                       "Socket: a path of at most %zu bytes is needed, %s is longer", room - 1,
                       c->set->socket);
    if (!cheetah_place_find_group(&tried, c->set->group))
        mk_setup_fault(setup, mk_setup_origin(setup, c->set), "Group: there is no group \"%s\"",
                       c->set->group);
    mk_setup_keep(setup, c);
    return c->set->listen == LISTEN_SERVER
               ? cheetah_place_need(setup, c->set->socket, c->set->group)
               : 0;
}

static int cheetah_start(const struct mk_context *ctx, const struct mk_context *old)
{
    struct cheetah *c = ctx->config;
    const struct cheetah *before = old ? old->config : NULL;
    bool is_terminal = c->set->listen == LISTEN_STDIN;
    int err = 0;

    if (before && cheetah_shell_is_at(before->shell, is_terminal, c->set->socket))
        c->shell = cheetah_shell_get(before->shell);
    else
        c->shell = cheetah_shell_open(ctx, is_terminal, c->set->socket, c->set->group, &err);
    return err;
}

static void cheetah_stop(const struct mk_context *ctx)
{
    struct cheetah *c = ctx->config;

    cheetah_shell_put(c->shell);
    c->shell = NULL;
}

static int cheetah_worker_start(const struct mk_context *ctx, void **local)
{
    const struct cheetah *c = ctx->config;

    (void)local;
    return mk_worker_index(ctx->worker) == 0 ? cheetah_shell_watch(c->shell, ctx) : 0;
}

static void cheetah_worker_stop(const struct mk_context *ctx)
{
    const struct cheetah *c = ctx->config;

    if (mk_worker_index(ctx->worker) == 0)
        cheetah_shell_leave(c->shell);
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("cheetah", "a shell to look into the server"),
    .sections = sections,
    .check = cheetah_check,
    .start = cheetah_start,
    .stop = cheetah_stop,
    .worker_start = cheetah_worker_start,
    .worker_stop = cheetah_worker_stop,
};
MK_PLUGIN_EXPORT(plugin);
