/* SPDX-License-Identifier: Apache-2.0 */
#include "base/code.h"
#include "base/invariant.h"
#include "base/str.h"
#include "setup/known.h"
#include "setup/plugin.h"
#include "setup/settings_int.h"

/* From sections of text to the structs that plugins read. */

static bool is_named_before(const struct mk_known *row)
{
    const char *at = mk_known_sections;
    struct mk_known before;

    while (mk_known_next(&at, &before) && before.name != row->name) {
        if (strcmp(before.plugin, row->plugin) == 0)
            return true;
    }
    return false;
}

const char *mk_plugins_not_loaded(const struct mk_snapshot *s, const char **at)
{
    struct mk_known row;

    while (mk_known_next(at, &row)) {
        if (!is_named_before(&row) && !mk_plugins_find(s, mk_str_from(row.plugin)))
            return row.plugin;
    }
    return NULL;
}

void mk_plugins_warn_unused(const struct mk_tree *files, const char *plugin,
                            struct mk_faults *faults)
{
    for (const struct mk_section *section = files->first; section; section = section->next) {
        if (section->first)
            mk_fault_warn(faults, &section->at,
                          "[%.*s] has no effect, because the plugin \"%s\" is not loaded; it "
                          "would load it in monkey.conf",
                          (int)section->name.len, section->name.p, plugin);
    }
}

/* ---- which sections there may be ---- */

static const struct mk_section_spec *const of_core[] = {&mk_spec_host, &mk_spec_location,
                                                        &mk_spec_error_pages, &mk_spec_handlers};

struct specs {
    const struct mk_section_spec **items;
    size_t count;
};

static size_t count_specs(const struct mk_snapshot *s)
{
    size_t count = MK_ARRAY_LEN(of_core);

    for (size_t i = 0; i < s->nplugins; i++) {
        for (const struct mk_section_spec *const *each = s->plugins[i].draft->specs; *each; each++)
            count++;
    }
    return count;
}

/* Those of the core, and those of plugins that may stand in one of the places of flags. @return 0 or MK_E_NOMEM. */
static int gather(struct specs *specs, const struct mk_snapshot *s, unsigned flags, size_t ncore,
                  struct mk_setup *ctx)
{
    specs->count = 0;
    specs->items =
        mk_arena_alloc(ctx->faults->arena, count_specs(s) * sizeof(struct mk_section_spec *));
    if (!specs->items)
        return MK_E_NOMEM;
    while (specs->count < ncore) {
        specs->items[specs->count] = of_core[specs->count];
        specs->count++;
    }
    for (size_t i = 0; i < s->nplugins; i++) {
        for (const struct mk_section_spec *const *each = s->plugins[i].draft->specs; *each;
             each++) {
            if ((*each)->flags & flags)
                specs->items[specs->count++] = *each;
        }
    }
    return 0;
}

static bool is_named(const struct mk_section_spec *spec, struct mk_str name)
{
    return mk_str_ieq(mk_str_from(spec->name), name);
}

static bool is_one_of(const struct specs *specs, struct mk_str name)
{
    for (size_t i = 0; i < specs->count; i++) {
        if (is_named(specs->items[i], name))
            return true;
    }
    return false;
}

static const char *plugin_that_is_missing(const struct mk_snapshot *s, struct mk_str section)
{
    const char *at = mk_known_sections;
    struct mk_known row;

    while (mk_known_next(&at, &row)) {
        if (mk_str_ieq(mk_str_from(row.name), section) &&
            !mk_plugins_find(s, mk_str_from(row.plugin)))
            return row.plugin;
    }
    return NULL;
}

/* The section of a plugin that may stand in one of the places of flags; NULL: it has none there. */
static const struct mk_section_spec *spec_of(const struct mk_loaded *p, struct mk_str section,
                                             unsigned flags)
{
    const struct mk_section_spec *const *each = p->draft->specs;

    while (*each && !((*each)->flags & flags && is_named(*each, section)))
        each++;
    return *each;
}

/* The loaded plugin that has such a section, but in its own files only. */
static const char *plugin_with_file(const struct mk_snapshot *s, struct mk_str section)
{
    for (size_t i = 0; i < s->nplugins; i++) {
        if (spec_of(&s->plugins[i], section, MK_SECTION_FILE))
            return s->plugins[i].plugin->name;
    }
    return NULL;
}

/* @return whether a fault was noted: the section is somebody's, but has no place here. */
static bool is_misplaced(const struct mk_snapshot *s, const struct mk_snapshot_source *source,
                         const struct mk_section *section, struct mk_setup *ctx)
{
    const struct mk_str name = section->name;
    const char *plugin = plugin_with_file(s, name);

    if (plugin) {
        mk_fault_add(
            ctx->faults, &section->at,
            "[%.*s] is for all sites: it belongs above the first [HOST] of monkey.conf, or "
            "in plugins/%s/",
            (int)name.len, name.p, plugin);
        return true;
    }
    plugin = plugin_that_is_missing(s, name);
    if (plugin)
        mk_fault_add(ctx->faults, &section->at, "[%.*s] needs the plugin \"%s\": %s", (int)name.len,
                     name.p, plugin, mk_plugin_absence(source, mk_str_from(plugin), ctx));
    return plugin;
}

static void drop_misplaced(const struct mk_snapshot *s, const struct mk_snapshot_source *source,
                           struct mk_tree *tree, const struct specs *specs, struct mk_setup *ctx)
{
    struct mk_section **at = &tree->first;

    tree->last = NULL;
    while (*at) {
        if (!is_one_of(specs, (*at)->name) && is_misplaced(s, source, *at, ctx)) {
            *at = (*at)->next;
        } else {
            tree->last = *at;
            at = &(*at)->next;
        }
    }
}

/* ---- what is for all sites ---- */

/* Where a plugin's own files and sites have a section of one name with different keys, each takes its own; what neither has is the files'. */
static bool takes(const struct mk_section_spec *spec, const struct mk_section_spec *other,
                  struct mk_str key)
{
    return !other || mk_fields_have(spec, key) ||
           (spec->flags & MK_SECTION_FILE && !mk_fields_have(other, key));
}

/* @return a copy of what of it is spec's, at the end of the tree; NULL without memory. */
static struct mk_section *add_copy(struct mk_tree *tree, const struct mk_section *from,
                                   const struct mk_loaded *p, const struct mk_section_spec *spec)
{
    const unsigned place = spec->flags & MK_SECTION_FILE ? MK_SECTION_SITE : MK_SECTION_FILE;
    const struct mk_section_spec *other = spec_of(p, from->name, place);
    struct mk_section *copy = mk_tree_add_section(tree, from->name, &from->at);

    for (const struct mk_setting *s = from->first; copy && s; s = s->next) {
        if (takes(spec, other == spec ? NULL : other, s->key) &&
            !mk_tree_add(tree, copy, s->key, s->value, &s->key_at, &s->value_at))
            return NULL;
    }
    return copy;
}

/* An empty one, as in files that were shipped, says nothing. */
static void refuse_in_both(const struct mk_section *section, const struct mk_tree *files,
                           struct mk_setup *ctx)
{
    const struct mk_section *there = mk_section_find(files->first, section->name);

    if (there && there->first && section->first)
        mk_fault_add(ctx->faults, &section->at, "[%.*s] is in %s:%u too; keep one",
                     (int)section->name.len, section->name.p, there->at.file, there->at.line);
}

static int add_to_files(const struct mk_loaded *p, const struct mk_tree *common,
                        struct mk_tree *files, struct mk_setup *ctx)
{
    const size_t noted = ctx->faults->count;

    for (const struct mk_section *s = common->first; s; s = s->next) {
        if (spec_of(p, s->name, MK_SECTION_FILE))
            refuse_in_both(s, files, ctx);
    }
    for (const struct mk_section *s = common->first; s && ctx->faults->count == noted;
         s = s->next) {
        const struct mk_section_spec *spec = spec_of(p, s->name, MK_SECTION_FILE);

        if (spec && !add_copy(files, s, p, spec))
            return MK_E_NOMEM;
    }
    return 0;
}

MK_AT_START int mk_plugins_take_common(const struct mk_snapshot *s,
                                       struct mk_snapshot_source *source, struct mk_setup *ctx)
{
    struct mk_tree *common = &source->common;
    struct specs specs;
    int err = gather(&specs, s, MK_SECTION_FILE | MK_SECTION_SITE, 0, ctx);

    if (err < 0)
        return err;
    drop_misplaced(s, source, common, &specs, ctx);
    mk_sections_check(common, specs.items, specs.count, ctx->faults);
    err = 0;
    for (size_t i = 0; err == 0 && i < s->nplugins; i++)
        err = add_to_files(&s->plugins[i], common, &source->plugin_files[i], ctx);
    return err;
}

/* A configuration that is built again has them already. */
static bool has_from(const struct mk_tree *tree, const struct mk_section *section)
{
    const struct mk_section *s = tree->first;

    while (s && (s->at.file != section->at.file || s->at.line != section->at.line))
        s = s->next;
    return s;
}

/* The site's own keys have precedence, and its own repeated sections come first. */
static int add_to_site(struct mk_tree *site, const struct mk_section *section,
                       const struct mk_loaded *p, const struct mk_section_spec *spec)
{
    const bool repeats = spec->flags & MK_SECTION_REPEAT;
    struct mk_section *own = mk_section_find(site->first, section->name), *copy;
    struct mk_section merged = {.next = NULL};
    struct mk_tree scratch;

    if (has_from(site, section))
        return 0;
    mk_tree_init(&scratch, site->arena);
    copy = add_copy(repeats || !own ? site : &scratch, section, p, spec);
    if (!copy)
        return MK_E_NOMEM;
    if (repeats || !own)
        return 0;
    if (mk_fields_inherit(spec, own, copy, site->arena, &merged) < 0)
        return MK_E_NOMEM;
    own->first = merged.first;
    own->last = merged.last;
    return 0;
}

static int inherit_common(const struct mk_snapshot *s, const struct mk_tree *common,
                          struct mk_tree *site)
{
    int err = 0;

    for (size_t i = 0; i < s->nplugins; i++) {
        for (const struct mk_section *c = common->first; err == 0 && c; c = c->next) {
            const struct mk_section_spec *spec = spec_of(&s->plugins[i], c->name, MK_SECTION_SITE);

            if (spec && !(spec->flags & MK_SECTION_FILE))
                err = add_to_site(site, c, &s->plugins[i], spec);
        }
    }
    return err;
}

int mk_plugins_check_sections(const struct mk_snapshot *s, const struct mk_snapshot_source *source,
                              struct mk_tree *site, struct mk_setup *ctx)
{
    struct specs specs;
    int err = gather(&specs, s, MK_SECTION_SITE, MK_ARRAY_LEN(of_core), ctx);

    if (err < 0)
        return err;
    drop_misplaced(s, source, site, &specs, ctx);
    mk_sections_check(site, specs.items, specs.count, ctx->faults);
    return inherit_common(s, &source->common, site);
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
