/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kit/h2/text.h"

#include "failing.h"

static void test_bytes_keep_their_order(void **state)
{
    struct h2_text t = {.p = NULL};
    uint8_t next = 0, expected = 0;

    (void)state;
    for (int round = 0; round < 500; round++) {
        for (int i = 0; i < 7; i++, next++)
            assert_int_equal(h2_text_append(&t, &next, 1, 4096), 0);
        for (int i = 0; i < 5; i++, expected++) {
            assert_int_equal((uint8_t)t.p[t.at], expected);
            h2_text_use(&t, 1);
        }
    }
    assert_int_equal(h2_text_left(&t), 1000);
    h2_text_free(&t);
}

static void test_a_bound_is_held(void **state)
{
    struct h2_text t = {.p = NULL};

    (void)state;
    assert_int_equal(h2_text_append(&t, "12345", 5, 5), 0);
    assert_int_equal(h2_text_append(&t, "6", 1, 5), MK_E_LIMIT);
    assert_int_equal(h2_text_append(&t, "", 0, 5), 0);
    h2_text_use(&t, 2);
    assert_int_equal(h2_text_append(&t, "67", 2, 5), 0);
    assert_memory_equal(t.p + t.at, "34567", 5);
    h2_text_free(&t);
}

static void test_an_empty_one_has_no_memory(void **state)
{
    struct h2_text t = {.p = NULL};

    (void)state;
    assert_int_equal(h2_text_append(&t, "1", 1, 1), 0);
    h2_text_use(&t, 1);
    assert_null(t.p);
    assert_int_equal(h2_text_left(&t), 0);
}

static void test_without_memory_it_stays(void **state)
{
    size_t sum = 0;
    struct h2_text t = {.sum = &sum};

    (void)state;
    fails_in = 1;
    assert_int_equal(h2_text_append(&t, "1", 1, 1), MK_E_NOMEM);
    assert_int_equal(sum, 0);
    assert_int_equal(h2_text_append(&t, "1", 1, 1), 0);
    fails_in = 1;
    assert_null(h2_text_room(&t, 1000));
    assert_memory_equal(t.p, "1", 1);
    assert_int_equal(sum, t.cap);
    h2_text_free(&t);
    assert_int_equal(sum, 0);
}

static void test_memory_is_lent(void **state)
{
    size_t sum = 0;
    struct h2_text spare = {.p = NULL}, t = {.sum = &sum}, other = {.sum = &sum};
    const char *p;

    (void)state;
    h2_text_lend(&t, &spare);
    assert_int_equal(h2_text_append(&t, "12", 2, 9), 0);
    p = t.p;
    h2_text_give_back(&t, &spare);
    assert_int_equal(sum, 0);
    assert_ptr_equal(spare.p, p);
    h2_text_lend(&t, &spare);
    assert_null(spare.p);
    assert_int_equal(sum, t.cap);
    assert_int_equal(h2_text_left(&t), 0);
    assert_int_equal(h2_text_append(&other, "3", 1, 9), 0);
    h2_text_give_back(&t, &spare);
    h2_text_give_back(&other, &spare); /* one is kept */
    assert_int_equal(sum, 0);
    assert_ptr_equal(spare.p, p);
    h2_text_lend(&t, &spare);
    assert_non_null(h2_text_room(&t, 5000));
    h2_text_give_back(&t, &spare); /* none that is large */
    assert_null(spare.p);
    assert_int_equal(sum, 0);
}

static void test_lines_are_whole_or_not_there(void **state)
{
    struct h2_text t = {.p = NULL};
    char bytes[16];

    (void)state;
    assert_int_equal(h2_text_append_line(&t, MK_STR("a"), MK_STR("bc"), 6), MK_E_LIMIT);
    assert_int_equal(h2_text_append_line(&t, MK_STR("a"), MK_STR("bc"), 7), 0);
    assert_int_equal(h2_text_append_line(&t, MK_STR("d"), MK_STR(""), 11), MK_E_LIMIT);
    fails_in = 1;
    assert_int_equal(h2_text_append_line(&t, MK_STR("d"), (struct mk_str){bytes, 0}, 12), 0);
    fails_in = 0;
    assert_int_equal(h2_text_take(&t, bytes, 9), 9);
    assert_memory_equal(bytes, "a: bc\r\nd:", 9);
    assert_int_equal(h2_text_take(&t, bytes, sizeof(bytes)), 3);
    assert_memory_equal(bytes, " \r\n", 3);
    assert_null(t.p);
    assert_int_equal(h2_text_take(&t, bytes, 1), 0);
    fails_in = 1;
    assert_int_equal(h2_text_append_line(&t, MK_STR("a"), MK_STR("b"), 99), MK_E_NOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_keep_their_order),
        cmocka_unit_test(test_a_bound_is_held),
        cmocka_unit_test(test_an_empty_one_has_no_memory),
        cmocka_unit_test(test_without_memory_it_stays),
        cmocka_unit_test(test_memory_is_lent),
        cmocka_unit_test(test_lines_are_whole_or_not_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
