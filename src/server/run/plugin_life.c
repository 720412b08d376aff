/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/plugin_life.h"

#include "base/code.h"
#include "server/run/server_int.h"

#include <stdarg.h>
#include <stdio.h>

/* Plugins begin with a configuration and end with it: on the control thread, and on each worker. */

MK_AT_START void mk_plugin_why(const struct mk_context *ctx, const char *fmt, ...)
{
    va_list args;

    if (!ctx->server)
        return;
    va_start(args, fmt);
    (void)vsnprintf(ctx->worker ? ctx->worker->why : ctx->server->plugin_why, MK_PLUGIN_WHY, fmt,
                    args);
    va_end(args);
}

/* ---- a configuration ---- */

static const struct mk_context *context_before(const struct mk_snapshot *old,
                                               const struct mk_loaded *p)
{
    for (size_t i = 0; old && i < old->nplugins; i++) {
        if (old->plugins[i].given == p->given && old->plugins[i].started)
            return &old->plugins[i].context;
    }
    return NULL;
}

int mk_plugins_start(struct mk_server *server, struct mk_snapshot *s, const struct mk_snapshot *old)
{
    for (size_t i = 0; i < s->nplugins; i++) {
        struct mk_loaded *p = &s->plugins[i];
        int err = 0;

        p->context.server = server;
        server->plugin_why[0] = '\0';
        if (p->plugin->start)
            err = p->plugin->start(&p->context, context_before(old, p));
        p->started = err == 0;
        if (err == 0)
            continue;
        mk_plugin_failed(server->plugin_why, p->plugin, err);
        (void)snprintf(server->why, sizeof(server->why), "%s", server->plugin_why);
        mk_plugins_stop(s);
        return err < 0 ? err : MK_E_INVALID;
    }
    return 0;
}

/* ---- facts ---- */

int mk_plugins_keep_facts(struct mk_server *server)
{
    const struct mk_snapshot *s = server->snapshot;
    struct mk_arena *arena = &server->plugin_names;

    server->plugins = mk_arena_alloc(arena, s->nplugins * sizeof(*server->plugins));
    if (!server->plugins)
        return MK_E_NOMEM;
    for (size_t i = 0; i < s->nplugins; i++) {
        const struct mk_loaded *p = &s->plugins[i];
        const char *file = p->file ? mk_arena_strdup(arena, mk_str_from(p->file)) : NULL;

        if (p->file && !file)
            return MK_E_NOMEM;
        server->plugins[server->nplugins++] = (struct mk_plugin_facts){
            .size = sizeof(struct mk_plugin_facts),
            .name = p->given->name,
            .about = p->given->about,
            .file = file,
            .major = p->given->major,
            .has_transport = p->plugin->transport,
        };
    }
    return 0;
}

bool mk_server_plugin(const struct mk_server *server, unsigned index, struct mk_plugin_facts *facts)
{
    size_t size = facts->size;

    if (index >= server->nplugins)
        return false;
    memcpy(facts, &server->plugins[index], size < sizeof(*facts) ? size : sizeof(*facts));
    facts->size = size;
    return true;
}
