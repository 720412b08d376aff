/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "server/run/server.h"

#include <stdlib.h>
#include <unistd.h>

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

void fixture_handle(struct fixture *f, const struct mk_plugin *plugin, void *data)
{
    struct mk_site *site = &f->plan.snapshot.sites[0];

    assert_int_equal(site->nroutes, 1);
    site->routes[0].who.plugin = plugin;
    site->routes[0].data = data;
}
