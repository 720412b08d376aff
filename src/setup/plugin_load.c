/* SPDX-License-Identifier: Apache-2.0 */
#include "base/invariant.h"
#include "base/limits.h"
#include "base/str.h"
#include "setup/explain.h"
#include "setup/known.h"
#include "setup/plugin.h"
#include "setup/settings_int.h"
#include "setup/wants.h"

#include <dirent.h>
#include <unistd.h>

/* Which plugins a configuration has. */

enum {
    /* What even the oldest plugin says of itself. */
    SIZE_MIN = offsetof(struct mk_plugin, check),
};

static bool is_always(struct mk_str name)
{
    const struct mk_plugin *plugin;

    for (size_t at = 0; (plugin = mk_plugin_always(&at));) {
        if (mk_str_eq(name, mk_str_from(plugin->name)))
            return true;
    }
    return false;
}

static bool is_name(struct mk_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'))
            return false;
    }
    return name.len > 0 && name.len <= MK_LIMIT_PLUGIN_NAME;
}

/* A plugin with the members that its header did not have yet. */
static const struct mk_plugin *with_all_members(const struct mk_plugin *given,
                                                struct mk_arena *arena)
{
    struct mk_plugin *plugin;

    if (given->size >= sizeof(*plugin))
        return given;
    plugin = mk_arena_zalloc(arena, sizeof(*plugin));
    if (plugin)
        memcpy(plugin, given, given->size);
    return plugin;
}

static struct mk_draft *new_draft(const struct mk_plugin *plugin, struct mk_setup *ctx)
{
    static const struct mk_section_spec *const none[] = {NULL};
    struct mk_draft *draft = mk_arena_zalloc(ctx->faults->arena, sizeof(*draft));
    size_t count = 0;

    if (!draft)
        return NULL;
    draft->given = plugin->sections ? plugin->sections : none;
    while (draft->given[count])
        count++;
    draft->specs =
        mk_arena_zalloc(ctx->faults->arena, (count + 1) * sizeof(struct mk_section_spec *));
    for (size_t i = 0; draft->specs && i < count; i++) {
        draft->specs[i] = mk_section_spec_ours(draft->given[i], ctx->faults->arena);
        if (!draft->specs[i])
            return NULL;
    }
    return draft->specs ? draft : NULL;
}

int mk_plugin_append(struct mk_snapshot *s, const struct mk_loaded *known, struct mk_setup *ctx)
{
    struct mk_loaded plugin = *known;

    plugin.plugin = with_all_members(known->given, ctx->arena);
    plugin.draft = plugin.plugin ? new_draft(plugin.plugin, ctx) : NULL;
    if (!plugin.draft)
        return MK_E_NOMEM;
    plugin.context = (struct mk_context){.size = sizeof(struct mk_context)};
    s->plugins[s->nplugins++] = plugin;
    return 0;
}

static int add(struct mk_snapshot *s, const struct mk_plugin *given, const char *file,
               const char *load, struct mk_setup *ctx)
{
    return mk_plugin_append(s, &(struct mk_loaded){.given = given, .file = file, .load = load},
                            ctx);
}

struct mk_loaded *mk_plugins_find(const struct mk_snapshot *s, struct mk_str name)
{
    for (size_t i = 0; i < s->nplugins; i++) {
        if (mk_str_ieq(mk_str_from(s->plugins[i].plugin->name), name))
            return &s->plugins[i];
    }
    return NULL;
}

bool mk_plugin_is_usable(const struct mk_plugin *given)
{
    return given->size >= SIZE_MIN && given->major == MK_PLUGIN_MAJOR &&
           is_name(mk_str_from(given->name));
}

/* @return whether it can be used; *why otherwise, which is NULL without memory. */
static bool is_usable(const struct mk_plugin *given, const char *file, struct mk_arena *arena,
                      const char **why)
{
    if (mk_plugin_is_usable(given))
        return true;
    if (given->size < SIZE_MIN)
        *why = mk_arena_printf(arena, "\"%s\" is not a plugin: its description has %zu bytes", file,
                               given->size);
    else if (given->major != MK_PLUGIN_MAJOR)
        *why = mk_arena_printf(arena,
                               "\"%s\" was built for version %u of the plugin interface; this "
                               "server has version %d",
                               file, given->major, MK_PLUGIN_MAJOR);
    else
        *why = mk_arena_printf(
            arena, "\"%s\" has an invalid name; expected letters a to z, digits and _", file);
    return false;
}

static const char *path_of_name(const char *dir, struct mk_str name, struct mk_setup *ctx)
{
    return mk_arena_printf(ctx->arena, "%s/monkey-%.*s.so", dir ? dir : ".", (int)name.len, name.p);
}

/* A path as the Load line means it, in the configuration's arena. */
static const char *path_of(const struct mk_snapshot_source *source, struct mk_str what,
                           struct mk_setup *ctx)
{
    if (!memchr(what.p, '/', what.len))
        return path_of_name(source->plugin_dir, mk_plugin_name_of(what), ctx);
    if (what.p[0] == '/' || !ctx->dir)
        return mk_arena_strdup(ctx->arena, what);
    return mk_arena_printf(ctx->arena, "%s/%.*s", ctx->dir, (int)what.len, what.p);
}

static bool has_so(const char *file)
{
    return mk_str_has_prefix(mk_str_from(file), MK_STR("monkey-")) &&
           mk_str_has_suffix(mk_str_from(file), MK_STR(".so"));
}

/* The plugin of the folder that a misspelt name is nearest to, as " ...; did you mean"; "" for none. */
static const char *nearest(const char *dir, struct mk_str name, struct mk_arena *arena)
{
    const char *names[MK_LIMIT_PLUGINS + 1] = {NULL}, *near;
    DIR *folder = opendir(dir ? dir : ".");
    const struct dirent *entry;
    size_t count = 0;

    while (folder && count < MK_LIMIT_PLUGINS && (entry = readdir(folder))) {
        if (has_so(entry->d_name))
            names[count++] = mk_arena_strdup(arena, mk_plugin_name_of(mk_str_from(entry->d_name)));
        if (count > 0 && !names[count - 1])
            count--; /* no memory: one name less */
    }
    if (folder)
        closedir(folder);
    names[count] = NULL;
    near = mk_nearest_name(name, names);
    near = near ? mk_arena_printf(arena, "; did you mean \"%s\"?", near) : NULL;
    return near ? near : "";
}

/* What may be meant instead of a plugin that is not there, or none. */
static const char *suggest(const struct mk_snapshot_source *source, struct mk_str what,
                           struct mk_setup *ctx)
{
    struct mk_str name = mk_plugin_name_of(what);
    struct mk_arena *arena = ctx->faults->arena;
    const char *path, *text = NULL;

    if (!memchr(what.p, '/', what.len))
        return nearest(source->plugin_dir, name, arena);
    path = path_of_name(source->plugin_dir, name, ctx);
    if (path && access(path, R_OK) == 0)
        text =
            mk_arena_printf(arena, "; the name alone is enough: Load %.*s", (int)name.len, name.p);
    return text ? text : "";
}

static int load_shared(struct mk_snapshot *s, const struct mk_snapshot_source *source,
                       const struct mk_load_line *line, struct mk_setup *ctx)
{
    bool is_path = memchr(line->what.p, '/', line->what.len);
    const struct mk_origin *at = &line->setting->value_at;
    const char *path = path_of(source, line->what, ctx), *why = NULL;
    const struct mk_plugin *given;

    if (!path)
        return MK_E_NOMEM;
    given = mk_plugin_open(path, ctx->faults->arena, &why);
    if (!given || !is_usable(given, path, ctx->faults->arena, &why)) {
        if (why)
            mk_fault_add(ctx->faults, at, "Load: %s%s", why, suggest(source, line->what, ctx));
        return why ? 0 : MK_E_NOMEM;
    }
    if (!is_path && !mk_str_eq(mk_str_from(given->name), mk_plugin_name_of(line->what)))
        mk_fault_add(ctx->faults, at, "Load: \"%s\" calls itself \"%s\"", path, given->name);
    else if (mk_plugins_find(s, mk_str_from(given->name)))
        mk_fault_add(ctx->faults, at, "Load: the plugin \"%s\" is loaded already", given->name);
    else
        return add(s, given, path, line->what.p, ctx);
    return 0;
}

static int load_line(struct mk_snapshot *s, const struct mk_snapshot_source *source,
                     const struct mk_load_line *line, struct mk_setup *ctx)
{
    const struct mk_origin *at = &line->setting->value_at;
    struct mk_str name = mk_plugin_name_of(line->what);
    const struct mk_plugin *given = mk_plugin_static(name);
    const char *why = NULL;

    if (is_always(name))
        return 0;
    if (!given) {
        why = mk_explain_plugin(name, ctx->faults->arena);
        if (!why)
            return load_shared(s, source, line, ctx);
        mk_fault_add(ctx->faults, at, "Load: %s", why);
        return 0;
    }
    if (mk_plugins_find(s, name))
        mk_fault_add(ctx->faults, at, "Load: the plugin \"%s\" is loaded already", given->name);
    else if (is_usable(given, given->name, ctx->faults->arena, &why))
        return add(s, given, NULL, line->what.p, ctx);
    else if (why)
        mk_fault_add(ctx->faults, at, "Load: %s", why);
    else
        return MK_E_NOMEM;
    return 0;
}

int mk_plugin_by_name(struct mk_loaded *plugin, const char *dir, const char *name,
                      struct mk_setup *ctx, const char **why)
{
    const struct mk_plugin *given = mk_plugin_static(mk_str_from(name));
    const char *path = given ? NULL : path_of_name(dir, mk_str_from(name), ctx);

    *why = NULL;
    if (!given && path)
        given = mk_plugin_open(path, ctx->faults->arena, why);
    if (!given || !is_usable(given, path ? path : name, ctx->faults->arena, why))
        return *why ? MK_E_NOENT : MK_E_NOMEM;
    *plugin = (struct mk_loaded){
        .plugin = with_all_members(given, ctx->arena), .given = given, .file = path};
    return plugin->plugin ? 0 : MK_E_NOMEM;
}

static int load_optional(struct mk_snapshot *s, const struct mk_snapshot_source *source,
                         const char *name, struct mk_setup *ctx)
{
    struct mk_loaded plugin;
    const char *why;
    int err;

    if (mk_plugins_find(s, mk_str_from(name)))
        return 0;
    err = mk_plugin_by_name(&plugin, source->plugin_dir, name, ctx, &why);
    if (err == 0)
        return add(s, plugin.given, plugin.file, NULL, ctx);
    if (err == MK_E_NOENT)
        mk_fault_warn(ctx->faults, NULL, "the server runs without %s: %s", name, why);
    return err == MK_E_NOMEM ? err : 0;
}

/* ---- named without a Load line ---- */

/* In any case, as names are compared. @return p NULL: without memory, or no plugin can have it. */
static struct mk_str lower(struct mk_str name, struct mk_setup *ctx)
{
    char *copy = mk_arena_strdup(ctx->arena, name);

    for (size_t i = 0; copy && i < name.len; i++)
        copy[i] = mk_char_lower(copy[i]);
    name.p = copy;
    return copy && is_name(name) ? name : (struct mk_str){NULL, 0};
}

/* @return 0: it was added; MK_E_NOENT: there is none; MK_E_NOMEM. */
static int load_named(struct mk_snapshot *s, const struct mk_snapshot_source *source,
                      struct mk_str name, const struct mk_want *want, struct mk_setup *ctx)
{
    struct mk_loaded plugin;
    const char *why;
    int err = MK_E_NOENT;

    name = lower(name, ctx);
    if (name.p)
        err = mk_plugin_by_name(&plugin, source->plugin_dir, name.p, ctx, &why);
    if (err == 0 && !mk_str_eq(mk_str_from(plugin.given->name), name))
        err = MK_E_NOENT;
    if (err == 0)
        err = add(s, plugin.given, plugin.file, NULL, ctx);
    if (err == 0)
        s->plugins[s->nplugins - 1].draft->want = want;
    return err;
}

/* The next known plugin that has the section. @return NULL: none is left. */
static const char *next_owner(const char **at, const struct mk_want *want)
{
    struct mk_known row;

    while (want->is_section && mk_known_next(at, &row)) {
        if (mk_str_ieq(mk_str_from(row.name), want->name))
            return row.plugin;
    }
    return NULL;
}

/* A section is of the first of its plugins that is loaded or else can be; of ours there may be two, of others it has the name. */
static int load_wanted(struct mk_snapshot *s, const struct mk_snapshot_source *source,
                       const struct mk_want *want, struct mk_setup *ctx)
{
    const char *at = mk_known_sections, *plugin = NULL;
    int err = MK_E_NOENT;

    while ((plugin = next_owner(&at, want))) {
        if (mk_plugins_find(s, mk_str_from(plugin)))
            return 0;
    }
    at = mk_known_sections;
    while (err == MK_E_NOENT && (plugin = next_owner(&at, want)))
        err = load_named(s, source, mk_str_from(plugin), want, ctx);
    if (err == MK_E_NOENT && !mk_plugins_find(s, want->name))
        err = load_named(s, source, want->name, want, ctx);
    return err == MK_E_NOMEM ? err : 0;
}

const char *mk_plugin_absence(const struct mk_snapshot_source *source, struct mk_str name,
                              struct mk_setup *ctx)
{
    struct mk_arena *arena = ctx->faults->arena;
    struct mk_loaded plugin;
    const char *why = NULL;

    if (source->nkept > 0)
        return "the running server has not loaded it, and that needs a restart";
    name = lower(name, ctx);
    if (name.p && mk_plugin_by_name(&plugin, source->plugin_dir, name.p, ctx, &why) < 0 && why)
        why = mk_arena_printf(arena, "%s%s", why, nearest(source->plugin_dir, name, arena));
    return why ? why : "there is no such plugin";
}

/* ---- beside a server that runs ---- */

/* Loading changes only with the process: what is listed otherwise now is told, and stays as it is. */
static void compare_lines(struct mk_snapshot *s, const struct mk_snapshot_source *source,
                          const struct mk_plugin_settings *set, struct mk_setup *ctx)
{
    size_t kept = 0;

    for (size_t i = 0; i < set->nloads; i++) {
        if (is_always(mk_plugin_name_of(set->loads[i].what)))
            continue;
        while (kept < source->nkept && !source->kept[kept].load)
            kept++;
        if (kept == source->nkept ||
            !mk_str_eq(mk_str_from(source->kept[kept++].load), set->loads[i].what))
            s->loads_differ = true;
    }
    for (; kept < source->nkept; kept++)
        s->loads_differ |= source->kept[kept].load != NULL;
    if (s->loads_differ)
        mk_fault_warn(ctx->faults, set->nloads ? &set->loads[0].setting->value_at : NULL,
                      "Load: a change of plugins needs a restart");
}

static int keep_all(struct mk_snapshot *s, const struct mk_snapshot_source *source,
                    struct mk_setup *ctx)
{
    for (size_t i = 0; i < source->nkept; i++) {
        const struct mk_loaded *kept = &source->kept[i];
        const char *file = kept->file ? mk_arena_strdup(ctx->arena, mk_str_from(kept->file)) : NULL;
        const char *load = kept->load ? mk_arena_strdup(ctx->arena, mk_str_from(kept->load)) : NULL;
        int err = (kept->file && !file) || (kept->load && !load) ? MK_E_NOMEM : 0;

        if (err == 0)
            err = kept->is_of_program ? mk_plugin_keep_program(s, source, kept, ctx)
                                      : add(s, kept->given, file, load, ctx);
        if (err < 0)
            return err;
    }
    mk_plugins_refuse_programs(s, source, ctx);
    return 0;
}

/* ---- */

static int read_lines(struct mk_plugin_settings *set, struct mk_snapshot_source *source,
                      struct mk_setup *ctx)
{
    static const struct mk_section_spec *const specs[] = {&mk_spec_plugins};
    const struct mk_section *s;

    mk_sections_check(&source->plugins, specs, 1, ctx->faults);
    s = mk_section_find(source->plugins.first, mk_str_from(mk_spec_plugins.name));
    return s ? mk_fields_apply(&mk_spec_plugins, s, set, ctx) : 0;
}

static size_t count_always(void)
{
    size_t count = 0;

    for (size_t at = 0; mk_plugin_always(&at);)
        count++;
    return count;
}

static int load_always(struct mk_snapshot *s, struct mk_setup *ctx)
{
    const struct mk_plugin *plugin;
    int err = 0;

    for (size_t at = 0; err == 0 && (plugin = mk_plugin_always(&at));)
        err = add(s, plugin, NULL, NULL, ctx);
    return err;
}

int mk_plugins_load(struct mk_snapshot *s, struct mk_snapshot_source *source, struct mk_setup *ctx)
{
    struct mk_plugin_settings set = {.nloads = 0};
    int err = read_lines(&set, source, ctx);

    if (err < 0)
        return err;
    s->plugins = mk_arena_zalloc(ctx->arena, (count_always() + mk_plugins_count_programs(source) +
                                              set.nloads + 1 + source->nkept + source->nwants) *
                                                 sizeof(*s->plugins));
    if (!s->plugins)
        return MK_E_NOMEM;
    if (source->nkept > 0) {
        compare_lines(s, source, &set, ctx);
        return keep_all(s, source, ctx);
    }
    err = load_always(s, ctx);
    if (err == 0)
        err = mk_plugins_load_programs(s, source, ctx);
    for (size_t i = 0; err == 0 && i < set.nloads; i++)
        err = load_line(s, source, &set.loads[i], ctx);
    for (size_t i = 0; err == 0 && i < source->nwants; i++)
        err = load_wanted(s, source, &source->wants[i], ctx);
    return err == 0 && source->optional ? load_optional(s, source, source->optional, ctx) : err;
}
