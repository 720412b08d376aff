/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "lib/config_int.h"

/* From what was written to a snapshot: overrides first, relative paths, then the server's tables. */

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

static int merge_overrides(struct mk_config *config)
{
    for (const struct mk_section *by = config->overrides.first; by; by = by->next) {
        bool of_server = mk_str_ieq(by->name, MK_STR("SERVER"));

        if (merge(of_server ? &config->server : &config->sites[0].tree, by) < 0)
            return MK_E_NOMEM;
    }
    mk_tree_init(&config->overrides, &config->text);
    return 0;
}

/* Paths in files are relative to the configuration directory, wherever the server is started. */
static int anchor(struct mk_config *config, struct mk_tree *tree, struct mk_str key)
{
    for (struct mk_section *s = tree->first; s; s = s->next) {
        for (struct mk_setting *at = s->first; at; at = at->next) {
            char *path;

            if (!mk_str_ieq(at->key, key) || at->value_at.line == 0 || at->value.len == 0 ||
                at->value.p[0] == '/' || mk_str_ieq(at->value, MK_STR("stderr")) ||
                mk_str_ieq(at->value, MK_STR("syslog")))
                continue;
            path = mk_arena_printf(&config->text, "%s/%s", config->dir, at->value.p);
            if (!path)
                return MK_E_NOMEM;
            at->value = mk_str_from(path);
        }
    }
    return 0;
}

static int anchor_paths(struct mk_config *config)
{
    int err = 0;

    if (!config->dir)
        return 0;
    err = anchor(config, &config->server, MK_STR("ErrorLog"));
    if (err == 0)
        err = anchor(config, &config->server, MK_STR("PidFile"));
    for (size_t i = 0; err == 0 && i < config->nsites; i++)
        err = anchor(config, &config->sites[i].tree, MK_STR("DocumentRoot"));
    return err;
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

static int make_source(struct mk_config *config)
{
    struct mk_snapshot_source *source = &config->source;

    *source = (struct mk_snapshot_source){
        .server = config->server,
        .mimes = config->mimes,
        .plugins = config->plugins,
        .nsites = config->nsites,
        .need_roots = config->have_sites,
    };
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
    mk_config_free(arg);
}

int mk_config_build(struct mk_config *config)
{
    struct mk_setup ctx = {.arena = &config->arena, .faults = &config->faults};
    int err = ensure_default_site(config);

    if (err == 0)
        err = merge_overrides(config);
    if (err == 0)
        err = anchor_paths(config);
    if (err == 0)
        err = make_source(config);
    if (err == 0) {
        memset(&config->snapshot, 0, sizeof(config->snapshot));
        err = mk_snapshot_build(&config->snapshot, &config->source, &ctx);
    }
    if (err < 0 || config->faults.no_memory)
        return MK_E_NOMEM;
    config->snapshot.on_unused = on_unused;
    config->snapshot.arg = config;
    return config->faults.count > INT32_MAX ? INT32_MAX : (int)config->faults.count;
}
