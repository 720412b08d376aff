/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exchange/buffer.h"

static void test_one_that_was_given_back_comes_again_empty(void **state)
{
    struct proxy_buffers pool = {0};
    struct proxy_buffer *b = proxy_buffer_get(&pool, 1), *again;

    (void)state;
    assert_int_equal(b->size, PROXY_BUFFER);
    b->at = 3;
    b->end = 5;
    proxy_buffer_put(&pool, b);
    again = proxy_buffer_get(&pool, PROXY_BUFFER);
    assert_ptr_equal(again, b);
    assert_true(again->at == 0 && again->end == 0);
    proxy_buffer_put(&pool, again);
    proxy_buffers_free(&pool);
}

static void test_large_ones_are_not_kept(void **state)
{
    struct proxy_buffers pool = {0};
    struct proxy_buffer *b = proxy_buffer_get(&pool, PROXY_BUFFER + 1);

    (void)state;
    assert_int_equal(b->size, PROXY_BUFFER + 1);
    proxy_buffer_put(&pool, b);
    proxy_buffer_put(&pool, NULL);
    assert_int_equal(pool.nfree, 0);
}

static void test_only_so_many_are_kept(void **state)
{
    enum { MORE = PROXY_BUFFERS_KEPT + 5 };
    struct proxy_buffers pool = {0};
    struct proxy_buffer *all[MORE];

    (void)state;
    for (unsigned i = 0; i < MORE; i++)
        all[i] = proxy_buffer_get(&pool, 0);
    for (unsigned i = 0; i < MORE; i++)
        proxy_buffer_put(&pool, all[i]);
    assert_int_equal(pool.nfree, PROXY_BUFFERS_KEPT);
    proxy_buffers_free(&pool);
    assert_true(pool.nfree == 0 && !pool.free);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_that_was_given_back_comes_again_empty),
        cmocka_unit_test(test_large_ones_are_not_kept),
        cmocka_unit_test(test_only_so_many_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
