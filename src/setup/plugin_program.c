/* SPDX-License-Identifier: Apache-2.0 */
#include "base/code.h"
#include "base/str.h"
#include "setup/config.h"
#include "setup/plugin.h"

/* Plugins without a file: the surrounding program has their structs in itself. */

static const struct mk_program_plugin *find(const struct mk_program_plugin *first, const char *name)
{
    while (first && strcmp(first->plugin->name, name) != 0)
        first = first->next;
    return first;
}

MK_AT_START int mk_config_plugin(struct mk_config *config, const struct mk_plugin *plugin,
                                 void *argument)
{
    struct mk_program_plugin *added, **end;

    if (!mk_config_is_free(config) || !plugin || !mk_plugin_is_usable(plugin) ||
        find(config->programs, plugin->name) || mk_plugin_static(mk_str_from(plugin->name)))
        return MK_E_INVALID;
    added = mk_arena_alloc(&config->text, sizeof(*added));
    if (!added)
        return MK_E_NOMEM;
    end = &config->programs;
    *added = (struct mk_program_plugin){.plugin = plugin, .argument = argument};
    while (*end)
        end = &(*end)->next;
    *end = added;
    config->checked = false;
    return 0;
}

MK_AT_START void *mk_config_argument(const struct mk_config *config, const struct mk_plugin *plugin)
{
    const struct mk_program_plugin *added =
        config->is_taken ? NULL : find(config->programs, plugin->name);

    return added && added->plugin == plugin ? added->argument : NULL;
}

size_t mk_plugins_count_programs(const struct mk_snapshot_source *source)
{
    size_t count = 0;

    for (const struct mk_program_plugin *at = source->programs; at; at = at->next)
        count++;
    return count;
}

static int load(struct mk_snapshot *s, const struct mk_program_plugin *program,
                struct mk_setup *ctx)
{
    const struct mk_loaded known = {
        .given = program->plugin, .is_of_program = true, .argument = program->argument};

    return mk_plugin_append(s, &known, ctx);
}

int mk_plugins_load_programs(struct mk_snapshot *s, const struct mk_snapshot_source *source,
                             struct mk_setup *ctx)
{
    int err = 0;

    for (const struct mk_program_plugin *at = source->programs; err == 0 && at; at = at->next)
        err = load(s, at, ctx);
    return err;
}

int mk_plugin_keep_program(struct mk_snapshot *s, const struct mk_snapshot_source *source,
                           const struct mk_loaded *kept, struct mk_setup *ctx)
{
    const struct mk_program_plugin *program = find(source->programs, kept->given->name);

    return program ? load(s, program, ctx) : mk_plugin_append(s, kept, ctx);
}

void mk_plugins_refuse_programs(const struct mk_snapshot *s,
                                const struct mk_snapshot_source *source, struct mk_setup *ctx)
{
    for (const struct mk_program_plugin *at = source->programs; at; at = at->next) {
        const struct mk_loaded *kept = mk_plugins_find(s, mk_str_from(at->plugin->name));

        if (!kept || !kept->is_of_program)
            mk_fault_add(ctx->faults, NULL,
                         "the program added the plugin \"%s\", which the running server does not "
                         "have; that needs a restart",
                         at->plugin->name);
    }
}
