/* SPDX-License-Identifier: Apache-2.0 */
#include "base_test.h"

static void counts_what_lives(void **state)
{
    void *a = mk_heap_alloc(10), *b = mk_heap_zalloc(3, 5);

    (void)state;
    assert_int_equal(mk_heap_live(), 2);
    assert_memory_equal(b, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 15);
    a = mk_heap_resize(a, 10000);
    assert_non_null(a);
    assert_int_equal(mk_heap_live(), 2);
    mk_heap_free(a);
    mk_heap_free(b);
    mk_heap_free(NULL);
    assert_int_equal(mk_heap_live(), 0);
}

static void copies_strings(void **state)
{
    char *copy = mk_heap_strdup((struct mk_str){"abcdef", 3}), *empty;

    (void)state;
    assert_string_equal(copy, "abc");
    empty = mk_heap_strdup((struct mk_str){NULL, 0});
    assert_string_equal(empty, "");
    mk_heap_free(copy);
    mk_heap_free(empty);
}

static void fails_the_nth_and_only_it(void **state)
{
    void *p;

    (void)state;
    mk_heap_fail_after(1);
    p = mk_heap_alloc(1);
    assert_non_null(p);
    assert_null(mk_heap_resize(p, 100));
    p = mk_heap_resize(p, 100);
    assert_non_null(p);
    mk_heap_fail_after(0);
    assert_null(mk_heap_strdup(MK_STR("a")));
    mk_heap_fail_after(0);
    assert_null(mk_heap_zalloc(1, 1));
    mk_heap_free(p);
}

static void maps_aligned_memory(void **state)
{
    const size_t size = 1 << 16;
    char *p = mk_heap_map(size);

    (void)state;
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % size, 0);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(p[i], 0);
    memset(p, 1, size);
    mk_heap_unmap(p, size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LEAK_CHECKED(counts_what_lives),
        LEAK_CHECKED(copies_strings),
        LEAK_CHECKED(fails_the_nth_and_only_it),
        LEAK_CHECKED(maps_aligned_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
