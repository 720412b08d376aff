/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cgroup.h"

#include <math.h>
#include <unistd.h>

static void test_what_is_not_there_is_unknown(void **state)
{
    static const char *const paths[] = {"", "/", "/a b.slice"};

    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        struct cgroup g = cgroup_read("/no/such/folder", paths[i]);

        assert_true(isnan(g.cpu_ms) && isnan(g.throttled));
        assert_true(isnan(g.throttled_ms) && isnan(g.peak_kb));
    }
}

static void test_a_path_is_absolute_or_empty(void **state)
{
    char path[CGROUP_PATH_SIZE] = "x";

    (void)state;
    cgroup_find((int)getpid(), path);
    assert_true(path[0] == '\0' || path[0] == '/');
    cgroup_find(0, path);
    assert_int_equal(path[0], '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_not_there_is_unknown),
        cmocka_unit_test(test_a_path_is_absolute_or_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
