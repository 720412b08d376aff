/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "server/run/server.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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
    f->worker = f->server->shared.workers[0];
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
