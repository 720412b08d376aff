/* SPDX-License-Identifier: Apache-2.0 */
#include "base/invariant.h"
#include "base/str.h"
#include "setup/known.h"
#include "setup/plugin.h"
#include "setup/settings_int.h"

/* From sections of text to the structs that plugins read. */

static bool is_named_before(size_t row)
{
    for (size_t i = 0; i < row; i++) {
        if (strcmp(mk_known_sections[i].plugin, mk_known_sections[row].plugin) == 0)
            return true;
    }
    return false;
}

const char *mk_plugins_not_loaded(const struct mk_snapshot *s, size_t *at)
{
    while (*at < mk_nknown_sections) {
        size_t row = (*at)++;

        if (!is_named_before(row) &&
            !mk_plugins_find(s, mk_str_from(mk_known_sections[row].plugin)))
            return mk_known_sections[row].plugin;
    }
    return NULL;
}

static void warn_of_section(const struct mk_section *section, const char *plugin,
                            struct mk_faults *faults)
{
    mk_fault_warn(faults, &section->at,
                  "[%.*s] has no effect, because the plugin \"%s\" is not loaded",
                  (int)section->name.len, section->name.p, plugin);
}

void mk_plugins_warn_unused(const struct mk_tree *files, const char *plugin,
                            struct mk_faults *faults)
{
    for (const struct mk_section *section = files->first; section; section = section->next) {
        if (section->first)
            warn_of_section(section, plugin, faults);
    }
}

/* ---- which sections a site may have ---- */

static const struct mk_section_spec *const of_core[] = {&mk_spec_host, &mk_spec_location,
                                                        &mk_spec_error_pages, &mk_spec_handlers};

static size_t gather_site_specs(const struct mk_snapshot *s, const struct mk_section_spec **specs)
{
    size_t count = 0;

    for (size_t i = 0; i < MK_ARRAY_LEN(of_core); i++, count++) {
        if (specs)
            specs[count] = of_core[i];
    }
    for (size_t i = 0; i < s->nplugins; i++) {
        const struct mk_section_spec *const *each = s->plugins[i].draft->specs;

        for (; *each; each++) {
            if (!((*each)->flags & MK_SECTION_SITE))
                continue;
            if (specs)
                specs[count] = *each;
            count++;
        }
    }
    return count;
}

static bool is_one_of(const struct mk_section_spec *const *specs, size_t count, struct mk_str name)
{
    for (size_t i = 0; i < count; i++) {
        if (mk_str_ieq(mk_str_from(specs[i]->name), name))
            return true;
    }
    return false;
}

static const char *plugin_that_is_missing(const struct mk_snapshot *s, struct mk_str section)
{
    for (size_t i = 0; i < mk_nknown_sections; i++) {
        if (mk_str_ieq(mk_str_from(mk_known_sections[i].section), section) &&
            !mk_plugins_find(s, mk_str_from(mk_known_sections[i].plugin)))
            return mk_known_sections[i].plugin;
    }
    return NULL;
}

/* The loaded plugin that has such a section, but in its own files only. */
static const char *plugin_with_file(const struct mk_snapshot *s, struct mk_str section)
{
    for (size_t i = 0; i < s->nplugins; i++) {
        const struct mk_section_spec *const *each = s->plugins[i].draft->specs;

        for (; *each; each++) {
            if (mk_str_ieq(mk_str_from((*each)->name), section))
                return s->plugins[i].plugin->name;
        }
    }
    return NULL;
}

/* @return whether a fault or a warning was noted: the section is somebody's, but has no place here. */
static bool is_misplaced(const struct mk_snapshot *s, const struct mk_section *section,
                         struct mk_setup *ctx)
{
    const char *plugin = plugin_with_file(s, section->name);

    if (plugin) {
        mk_fault_add(ctx->faults, &section->at,
                     "[%.*s] belongs in a file of plugins/%s/, not in a site's",
                     (int)section->name.len, section->name.p, plugin);
        return true;
    }
    plugin = plugin_that_is_missing(s, section->name);
    if (plugin)
        warn_of_section(section, plugin, ctx->faults);
    return plugin;
}

static void drop_misplaced(const struct mk_snapshot *s, struct mk_tree *tree,
                           const struct mk_section_spec *const *specs, size_t count,
                           struct mk_setup *ctx)
{
    struct mk_section **at = &tree->first;

    tree->last = NULL;
    while (*at) {
        if (!is_one_of(specs, count, (*at)->name) && is_misplaced(s, *at, ctx)) {
            *at = (*at)->next;
        } else {
            tree->last = *at;
            at = &(*at)->next;
        }
    }
}

int mk_plugins_check_sections(const struct mk_snapshot *s, struct mk_tree *site,
                              struct mk_setup *ctx)
{
    size_t count = gather_site_specs(s, NULL);
    const struct mk_section_spec **specs =
        mk_arena_alloc(ctx->faults->arena, count * sizeof(struct mk_section_spec *));

    if (!specs)
        return MK_E_NOMEM;
    (void)gather_site_specs(s, specs);
    drop_misplaced(s, site, specs, count, ctx);
    mk_sections_check(site, specs, count, ctx->faults);
    return 0;
}

/* ---- one section ---- */

static int fill(struct mk_occurrence *o, struct mk_setup *ctx)
{
    int err;

    o->settings = mk_arena_zalloc(ctx->arena, o->spec->settings_size);
    if (!o->settings)
        return MK_E_NOMEM;
    err = mk_fields_defaults(o->spec, o->settings, ctx);
    if (err == 0)
        err =
            mk_fields_inherit(o->spec, o->section, o->inherits, ctx->faults->arena, &o->effective);
    return err < 0 ? err : mk_fields_apply(o->spec, &o->effective, o->settings, ctx);
}

static struct mk_occurrence *append(struct mk_occurrence **list, struct mk_arena *arena)
{
    struct mk_occurrence *o = mk_arena_zalloc(arena, sizeof(*o));

    while (*list)
        list = &(*list)->next;
    *list = o;
    return o;
}

static int add_occurrence(struct mk_occurrence **list, const struct mk_draft *draft, size_t index,
                          const struct mk_section *section, const struct mk_section *inherits,
                          struct mk_setup *ctx)
{
    struct mk_occurrence *o = append(list, ctx->faults->arena);

    if (!o)
        return MK_E_NOMEM;
    o->given = draft->given[index];
    o->spec = draft->specs[index];
    o->section = section;
    o->inherits = inherits;
    return fill(o, ctx);
}

/* ---- all of one place ---- */

static int add_all(struct mk_occurrence **list, const struct mk_draft *draft, size_t index,
                   const struct mk_tree *tree, const struct mk_section *inherits, bool is_certain,
                   struct mk_setup *ctx)
{
    struct mk_str name = mk_str_from(draft->specs[index]->name);
    struct mk_section *first = tree ? mk_section_find(tree->first, name) : NULL;
    int err = 0;

    if (!first && is_certain)
        return add_occurrence(list, draft, index, NULL, inherits, ctx);
    for (struct mk_section *s = first; s && err == 0; s = mk_section_find(s->next, name))
        err = add_occurrence(list, draft, index, s, inherits, ctx);
    return err;
}

static const struct mk_section *section_of_file(const struct mk_draft *draft,
                                                const struct mk_section_spec *given)
{
    const struct mk_occurrence *o = draft->of_file;

    while (o && o->given != given)
        o = o->next;
    return o ? o->section : NULL;
}

static int fill_file(struct mk_draft *draft, struct mk_tree *tree, struct mk_setup *ctx)
{
    size_t count = 0, nfile = 0, noted;
    const struct mk_section_spec **specs;
    int err = 0;

    while (draft->specs[count])
        count++;
    specs = mk_arena_alloc(ctx->faults->arena, (count + 1) * sizeof(struct mk_section_spec *));
    if (!specs)
        return MK_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        if (draft->specs[i]->flags & MK_SECTION_FILE)
            specs[nfile++] = draft->specs[i];
    }
    if (tree)
        mk_sections_check(tree, specs, nfile, ctx->faults);
    noted = ctx->faults->count;
    for (size_t i = 0; err == 0 && i < count; i++) {
        const struct mk_section_spec *spec = draft->specs[i];
        bool inherits = spec->base && ctx->faults->count == noted; /* no fault twice */

        if (spec->flags & MK_SECTION_FILE)
            err = add_all(&draft->of_file, draft, i, tree,
                          inherits ? section_of_file(draft, spec->base) : NULL,
                          !(spec->flags & MK_SECTION_REPEAT), ctx);
    }
    return err;
}

/* ---- keys in [HOST] and [LOCATION] ---- */

bool mk_plugins_have_key(const struct mk_snapshot *s, struct mk_str key)
{
    for (size_t i = 0; i < s->nplugins; i++) {
        const struct mk_section_spec *const *spec = s->plugins[i].draft->specs;

        for (; *spec; spec++) {
            if ((*spec)->flags & MK_SECTION_LOCATION && mk_fields_have(*spec, key))
                return true;
        }
    }
    return false;
}

/* What a place says to a plugin, and what holds around it: before all others in its list. */
static int fill_location(struct mk_draft *draft, size_t index, const struct mk_site *place,
                         const struct mk_section *section, struct mk_setup *ctx)
{
    struct mk_occurrence **list = &draft->of_sites[place->index];
    struct mk_occurrence *around = place->parent ? draft->of_sites[place->parent->index] : NULL;
    int err = add_occurrence(list, draft, index, section, around ? &around->effective : NULL, ctx);

    if (err == 0)
        (*list)->next = around; /* whose sections hold here too */
    return err;
}

/* @param tree  of a site; NULL: of a variant, where the other sections of the site hold too */
static int fill_site(struct mk_draft *draft, const struct mk_site *place,
                     const struct mk_tree *tree, struct mk_setup *ctx)
{
    int err = 0;

    for (size_t i = 0; err == 0 && draft->specs[i]; i++) {
        unsigned flags = draft->specs[i]->flags;
        bool inherits = (flags & (MK_SECTION_FILE | MK_SECTION_INHERIT)) ==
                        (MK_SECTION_FILE | MK_SECTION_INHERIT);
        const struct mk_section_spec *from = inherits ? draft->given[i] : draft->specs[i]->base;

        if (flags & MK_SECTION_LOCATION)
            err = fill_location(
                draft, i, place,
                tree ? mk_section_find(tree->first, MK_STR("HOST")) : place->section, ctx);
        else if (flags & MK_SECTION_SITE && tree)
            err = add_all(&draft->of_sites[place->index], draft, i, tree,
                          from ? section_of_file(draft, from) : NULL,
                          inherits && !(flags & MK_SECTION_REPEAT), ctx);
    }
    return err;
}

/* Once a plugin's file has faults, sites do not inherit from it: they would have the same again. */
static int fill_plugin(struct mk_snapshot *s, struct mk_snapshot_source *source, size_t index,
                       struct mk_setup *ctx)
{
    struct mk_plugin_check *check = ctx->arg;
    struct mk_draft *draft = s->plugins[index].draft;
    size_t noted = ctx->faults->count;
    int err;

    check->plugin = &s->plugins[index];
    check->site = NULL;
    draft->of_sites =
        mk_arena_zalloc(ctx->faults->arena, mk_snapshot_places(s) * sizeof(struct mk_occurrence *));
    if (!draft->of_sites)
        return MK_E_NOMEM;
    err = fill_file(draft, source->plugin_files ? &source->plugin_files[index] : NULL, ctx);
    for (size_t i = 0; err == 0 && ctx->faults->count == noted && i < mk_snapshot_places(s); i++) {
        check->site = &s->sites[i];
        err = fill_site(draft, check->site, i < s->nsites ? &source->sites[i] : NULL, ctx);
    }
    draft->is_bad = ctx->faults->count > noted;
    return err;
}

/* ---- what a reload cannot change ---- */

static const char *value_of(const struct mk_field *f, const struct mk_occurrence *o,
                            struct mk_setup *ctx)
{
    const struct mk_setting *written = mk_field_source(f, &o->effective);

    if (f->type != MK_FIELD_CUSTOM)
        return mk_field_format(f, o->settings, ctx->arena);
    return written ? mk_arena_strdup(ctx->arena, written->value) : "";
}

static int keep_restart_values(struct mk_snapshot *s, const struct mk_occurrence *o,
                               struct mk_setup *ctx)
{
    for (size_t i = 0; i < o->spec->nfields; i++) {
        const struct mk_field *f = &o->spec->fields[i];
        struct mk_restart_value *kept;

        if (!(f->flags & MK_FIELD_RESTART))
            continue;
        kept = MK_SETTINGS_APPEND(ctx, s, restart_values, nrestart_values);
        if (!kept)
            return MK_E_NOMEM;
        kept->key = mk_arena_printf(ctx->arena, "[%s] %s", o->spec->name, f->name);
        kept->value = value_of(f, o, ctx);
        if (!kept->key || !kept->value)
            return MK_E_NOMEM;
    }
    return 0;
}

static int keep_all_restart_values(struct mk_snapshot *s, const struct mk_draft *draft,
                                   struct mk_setup *ctx)
{
    for (const struct mk_occurrence *o = draft->of_file; o; o = o->next) {
        if (keep_restart_values(s, o, ctx) < 0)
            return MK_E_NOMEM;
    }
    for (size_t i = 0; i < s->nsites; i++) {
        for (const struct mk_occurrence *o = draft->of_sites[i]; o; o = o->next) {
            if (keep_restart_values(s, o, ctx) < 0)
                return MK_E_NOMEM;
        }
    }
    return 0;
}

int mk_plugins_fill(struct mk_snapshot *s, struct mk_snapshot_source *source, struct mk_setup *ctx)
{
    int err = 0;

    for (size_t i = 0; err == 0 && i < s->nplugins; i++) {
        err = fill_plugin(s, source, i, ctx);
        if (err == 0)
            err = keep_all_restart_values(s, s->plugins[i].draft, ctx);
    }
    return err;
}
