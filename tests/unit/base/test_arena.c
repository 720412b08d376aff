/* SPDX-License-Identifier: Apache-2.0 */
#include "base_test.h"

#include "base/arena.h"

#include <stdalign.h>

static void gives_aligned_memory_that_does_not_overlap(void **state)
{
    struct mk_arena a;
    char *blocks[300];

    (void)state;
    mk_arena_init(&a, NULL, 0, SIZE_MAX);
    for (size_t i = 0; i < 300; i++) {
        blocks[i] = mk_arena_alloc(&a, i * 7);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % alignof(max_align_t), 0);
        memset(blocks[i], (int)i, i * 7);
    }
    for (size_t i = 0; i < 300; i++) {
        for (size_t k = 0; k < i * 7; k++)
            assert_int_equal((unsigned char)blocks[i][k], i & 255);
    }
    mk_arena_fini(&a);
}

static void uses_the_lent_block_first(void **state)
{
    alignas(16) char lent[256];
    struct mk_arena a;
    char *p;

    (void)state;
    mk_arena_init(&a, lent, sizeof(lent), SIZE_MAX);
    p = mk_arena_alloc(&a, 200);
    assert_true(p >= lent && p + 200 <= lent + sizeof(lent));
    assert_int_equal(mk_heap_live(), 0);
    p = mk_arena_zalloc(&a, 200);
    assert_true(p < lent || p >= lent + sizeof(lent));
    assert_int_equal(mk_heap_live(), 1);
    mk_arena_fini(&a);
    memset(lent, 1, sizeof(lent)); /* ours again, all of it */
}

static void a_lent_block_need_not_be_aligned(void **state)
{
    char lent[64];

    (void)state;
    for (size_t skip = 0; skip < 17; skip++) {
        for (size_t len = 0; len < 40; len++) {
            struct mk_arena a;
            char *p;

            mk_arena_init(&a, lent + skip, len, SIZE_MAX);
            p = mk_arena_alloc(&a, 8);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % alignof(max_align_t), 0);
            memset(p, 1, 8);
            mk_arena_fini(&a);
        }
    }
}

static void holds_its_ceiling(void **state)
{
    struct mk_arena a;

    (void)state;
    mk_arena_init(&a, NULL, 0, 100);
    assert_null(mk_arena_alloc(&a, 101));
    assert_non_null(mk_arena_alloc(&a, 50));
    assert_null(mk_arena_alloc(&a, 51));
    assert_non_null(mk_arena_alloc(&a, 20));
    assert_null(mk_arena_alloc(&a, SIZE_MAX));
    mk_arena_fini(&a);
    assert_non_null(mk_arena_alloc(&a, 100)); /* empty again, with the same ceiling */
    mk_arena_fini(&a);
}

static void makes_strings(void **state)
{
    struct mk_arena a;

    (void)state;
    mk_arena_init(&a, NULL, 0, SIZE_MAX);
    assert_string_equal(mk_arena_strdup(&a, (struct mk_str){"abcdef", 3}), "abc");
    assert_string_equal(mk_arena_strdup(&a, (struct mk_str){NULL, 0}), "");
    assert_string_equal(mk_arena_printf(&a, "%d %s", 42, "x"), "42 x");
    assert_int_equal(strlen(mk_arena_printf(&a, "%10000d", 1)), 10000);
    mk_arena_fini(&a);
}

static char order[8];

static void note(void *arg)
{
    const char *name = arg;

    order[strlen(order)] = *name;
}

static void cleans_up_newest_first(void **state)
{
    char a_name[] = "a", b_name[] = "b", c_name[] = "c";
    struct mk_arena a;

    (void)state;
    memset(order, 0, sizeof(order));
    mk_arena_init(&a, NULL, 0, SIZE_MAX);
    assert_int_equal(mk_arena_on_free(&a, note, a_name), 0);
    assert_int_equal(mk_arena_on_free(&a, note, b_name), 0);
    assert_int_equal(mk_arena_on_free(&a, note, c_name), 0);
    mk_arena_fini(&a);
    assert_string_equal(order, "cba");
    mk_arena_fini(&a);
    assert_string_equal(order, "cba");
}

static void survives_no_memory(void **state)
{
    struct mk_arena a;

    (void)state;
    mk_arena_init(&a, NULL, 0, SIZE_MAX);
    mk_heap_fail_after(0);
    assert_null(mk_arena_zalloc(&a, 10));
    mk_heap_fail_after(0);
    assert_null(mk_arena_strdup(&a, MK_STR("a")));
    mk_heap_fail_after(0);
    assert_null(mk_arena_printf(&a, "a"));
    mk_heap_fail_after(0);
    assert_int_equal(mk_arena_on_free(&a, note, NULL), MK_E_NOMEM);
    assert_non_null(mk_arena_alloc(&a, 10));
    mk_arena_fini(&a);
}

static void a_large_block_leaves_the_current_one_in_use(void **state)
{
    struct mk_arena a;
    char *first, *second;

    (void)state;
    mk_arena_init(&a, NULL, 0, SIZE_MAX);
    first = mk_arena_alloc(&a, 16);
    memset(mk_arena_alloc(&a, 5000), 'x', 5000);
    second = mk_arena_alloc(&a, 16);
    assert_ptr_equal(second, first + 16);
    mk_arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LEAK_CHECKED(gives_aligned_memory_that_does_not_overlap),
        LEAK_CHECKED(uses_the_lent_block_first),
        LEAK_CHECKED(a_lent_block_need_not_be_aligned),
        LEAK_CHECKED(holds_its_ceiling),
        LEAK_CHECKED(a_large_block_leaves_the_current_one_in_use),
        LEAK_CHECKED(makes_strings),
        LEAK_CHECKED(cleans_up_newest_first),
        LEAK_CHECKED(survives_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
