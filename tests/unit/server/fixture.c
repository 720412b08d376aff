/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "server/run/server.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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

void dir_make(char dir[32])
{
    (void)snprintf(dir, 32, "/tmp/mk-test-XXXXXX");
    assert_non_null(mkdtemp(dir));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

void dir_remove(const char *dir)
{
    (void)nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

char file_byte(size_t at)
{
    return (char)('a' + (at * 7 + at / 251) % 26);
}

void file_write(const char *dir, const char *name, const char *bytes, size_t len)
{
    char path[256];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    for (char *slash = strchr(path + strlen(dir) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0755);
        *slash = '/';
    }
    file = fopen(path, "we");
    assert_non_null(file);
    for (size_t i = 0; i < len; i++)
        (void)fputc(bytes ? bytes[i] : file_byte(i), file);
    assert_int_equal(fclose(file), 0);
}

void fixture_open(struct fixture *f, const struct row *rows)
{
    struct row all[32] = {
        {"SERVER", "Workers", "1", 0},
        {"SERVER", "LogLevel", "error", 0},
        {"HOST", "DocumentRoot", f->dir, 0},
    };
    size_t count = 3;

    for (; rows && rows->section; rows++) {
        assert_true(count + 1 < MK_ARRAY_LEN(all));
        all[count++] = *rows;
    }
    f->live = mk_heap_live();
    plan_make(&f->plan, all);
    if (f->plan.error < 0 || f->plan.faults.count > 0)
        fail_msg("%s", plan_faults(&f->plan));
    f->server = mk_server_create(&f->plan.snapshot, NULL);
    assert_non_null(f->server);
    f->worker = f->server->workers[0];
}

void fixture_close(struct fixture *f)
{
    mk_server_free(f->server);
    plan_free(&f->plan);
    assert_int_equal(mk_heap_live(), f->live);
}

bool is_root(void)
{
    return geteuid() == 0;
}

void fixture_handle(struct fixture *f, const struct mk_plugin *plugin, void *data)
{
    struct mk_site *site = &f->plan.snapshot.sites[0];

    assert_int_equal(site->nroutes, 1);
    site->routes[0].who.plugin = plugin;
    site->routes[0].data = data;
}
