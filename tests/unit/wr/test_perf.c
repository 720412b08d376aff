/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "perf.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 100 };

static void touch_pages(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *bytes =
        mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(bytes != MAP_FAILED);
    (void)madvise(bytes, PAGES * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++)
        bytes[i * page] = 1;
    assert_int_equal(munmap(bytes, PAGES * page), 0);
}

/* Page faults are counted by the kernel: no machine lacks them, but not everybody may ask. */
static void test_children_that_ended_count_too(void **state)
{
    const struct perf_event faults = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false, true};
    struct tree t = {0};
    struct perf p;
    double sum;
    pid_t child;

    (void)state;
    assert_int_equal(tree_add(&t, (int)getpid()), 0);
    perf_begin(&p, &t, &faults);
    touch_pages();
    child = fork();
    if (child == 0) {
        touch_pages();
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    if (perf_end(&p, &sum))
        assert_true(sum >= 2 * PAGES);
    tree_fini(&t);
}

static void test_what_the_machine_lacks_is_refused(void **state)
{
    const struct perf_event none = {UINT32_MAX, 0, false, false};
    struct tree t = {0};
    struct perf p;
    double sum;

    (void)state;
    assert_int_equal(tree_add(&t, (int)getpid()), 0);
    perf_begin(&p, &t, &none);
    assert_false(perf_end(&p, &sum));
    perf_begin(&p, &(struct tree){0}, &none);
    assert_false(perf_end(&p, &sum));
    tree_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_children_that_ended_count_too),
        cmocka_unit_test(test_what_the_machine_lacks_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
