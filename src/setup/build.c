/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "setup/config.h"
#include "setup/explain.h"
#include "setup/known.h"
#include "setup/plugin.h"
#include "setup/wants.h"

/* From what was written to a snapshot: overrides, plugins with their files, then the server's tables. */

#ifndef MK_PLUGINDIR
#define MK_PLUGINDIR "/usr/local/lib/monkey/plugins"
#endif

static bool is_set_in(const struct mk_section *s, struct mk_str key)
{
    for (const struct mk_setting *at = s->first; at; at = at->next) {
        if (mk_str_ieq(at->key, key))
            return true;
    }
    return false;
}

/* Settings of the files whose key is overridden are taken out, so that an override is no second occurrence. */
static void drop_overridden(struct mk_section *s, const struct mk_section *by)
{
    struct mk_setting **at = &s->first;

    s->last = NULL;
    while (*at) {
        /* Port and Listen speak of the same thing in two forms. */
        bool drop = is_set_in(by, (*at)->key) ||
                    (mk_str_ieq((*at)->key, MK_STR("Port")) && is_set_in(by, MK_STR("Listen")));

        if (drop) {
            *at = (*at)->next;
        } else {
            s->last = *at;
            at = &(*at)->next;
        }
    }
}

static int merge(struct mk_tree *tree, const struct mk_section *by)
{
    struct mk_section *s = mk_section_find(tree->first, by->name);

    for (struct mk_section *each = s; each; each = mk_section_find(each->next, by->name))
        drop_overridden(each, by);
    if (!s)
        s = mk_tree_add_section(tree, by->name, &by->at);
    if (!s)
        return MK_E_NOMEM;
    for (const struct mk_setting *at = by->first; at; at = at->next) {
        if (!mk_tree_add(tree, s, at->key, at->value, &at->key_at, &at->value_at))
            return MK_E_NOMEM;
    }
    return 0;
}

/* @return where the sections of this name belong; NULL: in a site or a plugin's file. */
static struct mk_tree *tree_of(struct mk_config *config, struct mk_str section)
{
    if (mk_str_ieq(section, MK_STR("SERVER")))
        return &config->server;
    if (mk_str_ieq(section, MK_STR("PLUGINS")))
        return &config->plugins;
    return mk_str_ieq(section, MK_STR("MIMETYPES")) ? &config->mimes : NULL;
}

/* What decides which plugins there are, and with them where the other overrides belong. */
static int merge_first(struct mk_config *config)
{
    for (const struct mk_section *by = config->overrides.first; by; by = by->next) {
        struct mk_tree *tree = tree_of(config, by->name);

        if (tree && merge(tree, by) < 0)
            return MK_E_NOMEM;
    }
    return 0;
}

/* The file of the plugin that has such a section in no site; else the default site. */
static struct mk_tree *place_of(struct mk_config *config, struct mk_str section)
{
    const struct mk_snapshot *s = &config->snapshot;

    for (size_t i = 0; i < s->nplugins; i++) {
        for (const struct mk_section_spec *const *spec = s->plugins[i].draft->specs; *spec;
             spec++) {
            if (mk_str_ieq(mk_str_from((*spec)->name), section) &&
                !((*spec)->flags & MK_SECTION_SITE))
                return &config->source.plugin_files[i];
        }
    }
    return &config->sites[0].tree;
}

static int merge_others(struct mk_config *config)
{
    for (const struct mk_section *by = config->overrides.first; by; by = by->next) {
        if (!tree_of(config, by->name) && merge(place_of(config, by->name), by) < 0)
            return MK_E_NOMEM;
    }
    return 0;
}

static int ensure_default_site(struct mk_config *config)
{
    if (config->nsites > 0)
        return 0;
    config->sites = mk_arena_zalloc(&config->text, sizeof(*config->sites));
    if (!config->sites)
        return MK_E_NOMEM;
    config->nsites = 1;
    config->sites[0].path = "";
    mk_tree_init(&config->sites[0].tree, &config->text);
    return 0;
}

/* Sites of the program follow those of files. */
static int take_more_sites(struct mk_config *config)
{
    const size_t count = config->nsites + config->nmore_sites;
    struct mk_site_file *all;

    if (config->nmore_sites == 0)
        return 0;
    all = mk_arena_alloc(&config->text, count * sizeof(*all));
    if (!all)
        return MK_E_NOMEM;
    memcpy(all, config->sites, config->nsites * sizeof(*all));
    memcpy(all + config->nsites, config->more_sites, config->nmore_sites * sizeof(*all));
    config->sites = all;
    config->nsites = count;
    config->nmore_sites = 0;
    return 0;
}

static int open_for_plugin(void *arg, const char *path)
{
    struct mk_config *config = arg;

    return config->conf_host.open(config->conf_host.arg, path);
}

const char *mk_config_plugins_from(const struct mk_config *config)
{
    return config->plugin_dir ? config->plugin_dir : MK_PLUGINDIR;
}

static int gather_wants(struct mk_config *config)
{
    struct mk_snapshot_source *source = &config->source;
    const struct mk_tree *const trees[] = {&config->server, &config->common, &config->overrides};
    int err = 0;

    for (size_t i = 0; err == 0 && i < sizeof(trees) / sizeof(trees[0]); i++)
        err = mk_wants_gather(source, trees[i], &config->text);
    for (size_t i = 0; err == 0 && i < config->nsites; i++)
        err = mk_wants_gather(source, &config->sites[i].tree, &config->text);
    return err;
}

static int load_plugins(struct mk_config *config, struct mk_setup *ctx)
{
    struct mk_snapshot_source *source = &config->source;

    *source = (struct mk_snapshot_source){
        .plugins = config->plugins,
        .plugin_dir = mk_config_plugins_from(config),
        .optional = config->optional,
        .programs = config->programs,
        .kept = config->before ? config->before->snapshot.plugins : NULL,
        .nkept = config->before ? config->before->snapshot.nplugins : 0,
        .open = open_for_plugin,
        .open_arg = config,
    };
    return gather_wants(config) < 0 ? MK_E_NOMEM : mk_plugins_load(&config->snapshot, source, ctx);
}

static int read_plugin_files(struct mk_config *config)
{
    struct mk_snapshot *s = &config->snapshot;
    int err = 0;

    config->source.plugin_files =
        mk_arena_zalloc(&config->text, s->nplugins * sizeof(struct mk_tree));
    if (!config->source.plugin_files)
        return MK_E_NOMEM;
    for (size_t i = 0; err == 0 && i < s->nplugins; i++) {
        mk_tree_init(&config->source.plugin_files[i], &config->text);
        err = mk_config_read_plugin(config, s->plugins[i].plugin->name,
                                    &config->source.plugin_files[i]);
    }
    return err;
}

/* Rules in a file that nobody reads protect nothing, so that is said. */
static int warn_of_unused_files(struct mk_config *config)
{
    const char *plugin, *at = mk_known_sections;
    int err = 0;

    while (err == 0 && (plugin = mk_plugins_not_loaded(&config->snapshot, &at))) {
        struct mk_tree files;

        mk_tree_init(&files, &config->text);
        err = mk_config_read_plugin(config, plugin, &files);
        mk_plugins_warn_unused(&files, plugin, &config->faults);
    }
    return err;
}

static int make_source(struct mk_config *config)
{
    struct mk_snapshot_source *source = &config->source;

    source->server = config->server;
    source->mimes = config->mimes;
    source->nsites = config->nsites;
    source->need_roots = config->have_sites;
    source->sites = mk_arena_alloc(&config->text, config->nsites * sizeof(*source->sites));
    if (!source->sites)
        return MK_E_NOMEM;
    for (size_t i = 0; i < config->nsites; i++)
        source->sites[i] = config->sites[i].tree;
    return 0;
}

static void on_unused(struct mk_snapshot *s, void *arg)
{
    (void)s;
    mk_config_end(arg);
}

int mk_config_build(struct mk_config *config)
{
    struct mk_setup ctx = {.arena = &config->arena, .faults = &config->faults, .dir = config->dir};
    int err = ensure_default_site(config);

    memset(&config->snapshot, 0, sizeof(config->snapshot));
    config->faults.explain = mk_explain_name;
    config->faults.explain_arg = &config->snapshot;
    config->faults.sections = mk_known_sections;
    if (err == 0)
        err = take_more_sites(config);
    if (err == 0)
        err = merge_first(config);
    if (err == 0)
        err = load_plugins(config, &ctx);
    if (err == 0)
        err = read_plugin_files(config);
    if (err == 0)
        err = warn_of_unused_files(config);
    config->source.common = config->common;
    if (err == 0)
        err = mk_plugins_take_common(&config->snapshot, &config->source, &ctx);
    if (err == 0)
        err = merge_others(config);
    if (err == 0)
        err = make_source(config);
    if (err == 0)
        err = mk_snapshot_build(&config->snapshot, &config->source, &ctx);
    if (err < 0 || config->faults.no_memory)
        return MK_E_NOMEM;
    config->snapshot.on_unused = on_unused;
    config->snapshot.arg = config;
    return config->faults.count > INT32_MAX ? INT32_MAX : (int)config->faults.count;
}
