/* SPDX-License-Identifier: Apache-2.0 */
#include "base_test.h"

#include "base/buf.h"

static void grows_as_needed(void **state)
{
    struct mk_buf b;

    (void)state;
    mk_buf_init(&b, 1 << 20);
    assert_int_equal(mk_heap_live(), 0);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(mk_buf_append(&b, "0123456789", 10), 0);
    assert_int_equal(b.len, 100000);
    for (size_t i = 0; i < b.len; i++)
        assert_int_equal(b.p[i], '0' + (char)(i % 10));
    mk_buf_fini(&b);
    assert_int_equal(b.len, 0);
}

static void appends_text(void **state)
{
    struct mk_buf b;

    (void)state;
    mk_buf_init(&b, 1000);
    assert_int_equal(mk_buf_append_str(&b, MK_STR("")), 0);
    assert_int_equal(mk_buf_append_str(&b, MK_STR("ab")), 0);
    assert_int_equal(mk_buf_printf(&b, "%d-%s", 7, "x"), 0);
    assert_int_equal(mk_buf_str(&b).len, 5);
    assert_memory_equal(mk_buf_str(&b).p, "ab7-x", 5);
    mk_buf_fini(&b);
}

static void lends_room(void **state)
{
    struct mk_buf b;
    char *to;

    (void)state;
    mk_buf_init(&b, 1000);
    to = mk_buf_reserve(&b, 300);
    assert_non_null(to);
    memset(to, 'a', 300);
    b.len += 300;
    to = mk_buf_reserve(&b, 700);
    assert_ptr_equal(to, b.p + 300);
    memset(to, 'b', 700);
    b.len += 700;
    assert_null(mk_buf_reserve(&b, 1));
    assert_int_equal(b.error, MK_E_LIMIT);
    mk_buf_fini(&b);
}

static void the_first_error_stays(void **state)
{
    struct mk_buf b;

    (void)state;
    mk_buf_init(&b, 8);
    assert_int_equal(mk_buf_append(&b, "12345678", 8), 0);
    assert_int_equal(mk_buf_append(&b, "9", 1), MK_E_LIMIT);
    assert_int_equal(mk_buf_append(&b, "", 0), MK_E_LIMIT);
    assert_int_equal(mk_buf_printf(&b, "x"), MK_E_LIMIT);
    assert_memory_equal(b.p, "12345678", 8);
    assert_int_equal(b.len, 8);
    mk_buf_fini(&b);
    assert_int_equal(b.error, 0);
}

static void survives_no_memory(void **state)
{
    struct mk_buf b;

    (void)state;
    mk_buf_init(&b, 10000);
    mk_heap_fail_after(1);
    assert_int_equal(mk_buf_append(&b, "abc", 3), 0);
    assert_null(mk_buf_reserve(&b, 5000));
    assert_int_equal(b.error, MK_E_NOMEM);
    assert_int_equal(mk_buf_append(&b, "d", 1), MK_E_NOMEM);
    assert_memory_equal(b.p, "abc", 3);
    mk_buf_fini(&b);
}

static void sizes_that_would_wrap_are_above_the_limit(void **state)
{
    struct mk_buf b;

    (void)state;
    mk_buf_init(&b, SIZE_MAX / 2);
    assert_int_equal(mk_buf_append(&b, "abc", 3), 0);
    assert_null(mk_buf_reserve(&b, SIZE_MAX));
    assert_int_equal(b.error, MK_E_LIMIT);
    mk_buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LEAK_CHECKED(grows_as_needed),    LEAK_CHECKED(appends_text),
        LEAK_CHECKED(lends_room),         LEAK_CHECKED(the_first_error_stays),
        LEAK_CHECKED(survives_no_memory), LEAK_CHECKED(sizes_that_would_wrap_are_above_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
