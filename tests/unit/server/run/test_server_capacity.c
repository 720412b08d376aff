/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/limits.h"

#include <sys/resource.h>

/* What a server makes of the descriptors that its process may have. */

static struct fixture fix;
static struct rlimit before;

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    dir_make(fix.dir);
    fixture_open(&fix, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fixture_close(&fix);
    dir_remove(fix.dir);
    return 0;
}

/* @return the files that a worker may keep open; 0 when this process may not have so many descriptors. */
static size_t files_with(rlim_t descriptors)
{
    struct rlimit limit = {.rlim_cur = descriptors, .rlim_max = before.rlim_max};

    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 0;
    mk_server_share_descriptors(fix.server);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    return fix.server->shared.files_per_worker;
}

static void files_have_an_eighth(void **state)
{
    (void)state;
    assert_int_equal(files_with(8 * 20), 20);
    fix.server->shared.nworkers = 2;
    assert_int_equal(files_with(8 * 20), 10);
    fix.server->shared.nworkers = 1;
}

static void few_descriptors_leave_some_files(void **state)
{
    (void)state;
    assert_int_equal(files_with(40), 8);
}

static void open_files_are_bounded(void **state)
{
    size_t files = files_with(8 * (MK_LIMIT_OPEN_FILES + 1));

    (void)state;
    if (files == 0)
        skip(); /* the hard limit is lower */
    assert_int_equal(files, MK_LIMIT_OPEN_FILES);
    assert_int_equal(files_with(8 * (MK_LIMIT_OPEN_FILES - 1)), MK_LIMIT_OPEN_FILES - 1);
}

static void connections_leave_descriptors_for_files(void **state)
{
    struct mk_snapshot snapshot = fix.plan.snapshot;
    struct rlimit limit = {.rlim_cur = 200, .rlim_max = before.rlim_max};
    int64_t without;

    (void)state;
    snapshot.set.max_connections = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    mk_server_share_descriptors(fix.server);
    mk_server_apply_limits(fix.server, &snapshot);
    without = atomic_load(&fix.server->shared.max_connections);
    assert_in_range(without, 4, 200 - (int64_t)fix.server->shared.files_per_worker);
    snapshot.set.max_connections = 1000; /* more than there are descriptors for */
    mk_server_apply_limits(fix.server, &snapshot);
    assert_int_equal(atomic_load(&fix.server->shared.max_connections), without);
    snapshot.set.max_connections = 5;
    mk_server_apply_limits(fix.server, &snapshot);
    assert_int_equal(atomic_load(&fix.server->shared.max_connections), 5);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_have_an_eighth),
        cmocka_unit_test(few_descriptors_leave_some_files),
        cmocka_unit_test(open_files_are_bounded),
        cmocka_unit_test(connections_leave_descriptors_for_files),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
