/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "setup/plugin.h"

enum { SITES_MAX = 4 };

static struct mk_tree *tree_of(struct plan *p, const struct row *row)
{
    if (strcmp(row->section, "SERVER") == 0)
        return &p->source.server;
    if (strcmp(row->section, "MIMETYPES") == 0)
        return &p->source.mimes;
    if (strcmp(row->section, "PLUGINS") == 0)
        return &p->source.plugins;
    if (row->site >= p->source.nsites)
        p->source.nsites = row->site + 1;
    return &p->source.sites[row->site];
}

static void add_row(struct plan *p, const struct row *row)
{
    static const struct mk_origin at = {.file = "row"};
    struct mk_tree *tree = tree_of(p, row);
    struct mk_section *s = mk_section_find(tree->first, mk_str_from(row->section));

    if (!s)
        s = mk_tree_add_section(tree, mk_str_from(row->section), &at);
    assert_non_null(s);
    assert_non_null(mk_tree_add(tree, s, mk_str_from(row->key), mk_str_from(row->value), &at, &at));
}

void plan_make(struct plan *p, const struct row *rows)
{
    static const struct row echo = {"PLUGINS", "Load", "echo", 0};
    struct mk_setup ctx = {.arena = &p->arena, .faults = &p->faults};

    memset(p, 0, sizeof(*p));
    mk_arena_init(&p->arena, NULL, 0, SIZE_MAX);
    mk_faults_init(&p->faults, &p->arena);
    mk_tree_init(&p->source.server, &p->arena);
    mk_tree_init(&p->source.mimes, &p->arena);
    mk_tree_init(&p->source.plugins, &p->arena);
    p->source.sites = mk_arena_zalloc(&p->arena, SITES_MAX * sizeof(*p->source.sites));
    assert_non_null(p->source.sites);
    p->source.nsites = 1;
    for (int i = 0; i < SITES_MAX; i++)
        mk_tree_init(&p->source.sites[i], &p->arena);
    for (; rows && rows->section; rows++)
        add_row(p, rows);
    if (mk_plugin_static(MK_STR("echo")))
        add_row(p, &echo);
    p->error = mk_snapshot_build(&p->snapshot, &p->source, &ctx);
}

void plan_free(struct plan *p)
{
    mk_arena_fini(&p->arena);
}

const char *plan_faults(struct plan *p)
{
    const char *all = "";

    for (const struct mk_fault *fault = p->faults.first; fault; fault = fault->next)
        all = mk_arena_printf(&p->arena, "%s%s\n", all, fault->message);
    return all;
}
