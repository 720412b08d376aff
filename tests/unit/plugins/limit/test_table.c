/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "table.h"

static const uint64_t secret[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
static const int64_t start = 1000000000000;

static uint64_t number(const struct table *t, uint32_t n)
{
    return limit_table_hash(t, &n, sizeof(n));
}

static struct table_counts count(struct table *t)
{
    struct table_counts counts;

    limit_table_count(t, &counts);
    return counts;
}

/* The vectors of the paper's appendix: bytes 0, 1, ... with the key 0 to 15. */
static void test_hash_is_siphash(void **state)
{
    struct table *t = limit_table_new(8, secret);
    uint8_t bytes[15];

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)i;
    assert_true(limit_table_hash(t, bytes, 0) == 0x726fdb47dd0e0e31);
    assert_true(limit_table_hash(t, bytes, 15) == 0xa129ca6149be45e5);
    limit_table_free(t);
}

static void test_keys_have_buckets_of_their_own(void **state)
{
    struct table *t = limit_table_new(1000, secret);
    struct bucket_rate rate = bucket_rate_of(1, 1, 2);

    (void)state;
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(limit_table_take(t, number(t, i), &rate, start), 0);
        assert_int_equal(limit_table_take(t, number(t, i), &rate, start), 0);
        assert_true(limit_table_take(t, number(t, i), &rate, start) > 0);
    }
    assert_int_equal(count(t).allowed, 200);
    assert_int_equal(count(t).refused, 100);
    assert_int_equal(count(t).keys, 100);
    assert_int_equal(count(t).evictions, 0);
    limit_table_free(t);
}

static void test_places_with_full_buckets_are_taken_without_loss(void **state)
{
    struct table *t = limit_table_new(8, secret);
    struct bucket_rate rate = bucket_rate_of(10, 1, 1);

    (void)state;
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(limit_table_take(t, number(t, i), &rate, start + i * INT64_C(100000000)),
                         0);
    assert_int_equal(count(t).evictions, 0);
    assert_int_equal(count(t).keys, 8);
    limit_table_free(t);
}

/*
 * Ten million new keys in 100 seconds; meanwhile one client asks 100 times a second where 10 are allowed, and one asks once
 * a second. The flood makes the first no freer, and the second is never refused.
 */
static void test_flood_of_ten_million_keys(void **state)
{
    const uint32_t flood = 10000000, greedy = UINT32_MAX, modest = UINT32_MAX - 1;
    struct table *t = limit_table_new(10000, secret);
    const size_t bytes = limit_table_bytes(t);
    struct bucket_rate rate = bucket_rate_of(10, 1, 20);
    unsigned allowed = 0;

    (void)state;
    for (uint32_t i = 0; i < flood; i++) {
        const int64_t now = start + i * INT64_C(10000);

        assert_int_equal(limit_table_take(t, number(t, i), &rate, now), 0);
        if (i % 1000 == 0)
            allowed += limit_table_take(t, number(t, greedy), &rate, now) == 0;
        if (i % 100000 == 0)
            assert_int_equal(limit_table_take(t, number(t, modest), &rate, now), 0);
    }
    assert_in_range(allowed, 1000, 1020);
    assert_int_equal(limit_table_bytes(t), bytes);
    assert_int_equal(count(t).keys, 10000);
    assert_true(count(t).evictions > 0);
    limit_table_free(t);
}

/* ---- requests at a time ---- */

static void test_requests_enter_and_leave(void **state)
{
    struct table *t = limit_table_new(100, secret);
    uint64_t key = number(t, 1);

    (void)state;
    assert_int_equal(limit_table_enter(t, key, 2), TABLE_ENTERED);
    assert_int_equal(limit_table_enter(t, key, 2), TABLE_ENTERED);
    assert_int_equal(limit_table_enter(t, key, 2), TABLE_REFUSED);
    assert_int_equal(limit_table_enter(t, number(t, 2), 2), TABLE_ENTERED);
    limit_table_leave(t, key);
    assert_int_equal(limit_table_enter(t, key, 2), TABLE_ENTERED);
    limit_table_free(t);
}

static void test_running_requests_keep_their_places(void **state)
{
    struct table *t = limit_table_new(8, secret);

    (void)state;
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(limit_table_enter(t, number(t, i), 1), TABLE_ENTERED);
    for (uint32_t i = 8; i < 1000; i++)
        assert_int_equal(limit_table_enter(t, number(t, i), 1), TABLE_UNCOUNTED);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(limit_table_enter(t, number(t, i), 1), TABLE_REFUSED);
    limit_table_leave(t, number(t, 3));
    assert_int_equal(limit_table_enter(t, number(t, 8), 1), TABLE_ENTERED);
    assert_int_equal(count(t).uncounted, 992);
    limit_table_free(t);
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 20000, KEYS = 50 };

static void *take_often(void *arg)
{
    struct table *t = arg;
    struct bucket_rate rate = bucket_rate_of(1, 1, 100);

    for (uint32_t i = 0; i < ROUNDS; i++)
        (void)limit_table_take(t, number(t, i % KEYS), &rate, start);
    return NULL;
}

static void *enter_often(void *arg)
{
    struct table *t = arg;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (limit_table_enter(t, number(t, i % KEYS), 2) == TABLE_ENTERED)
            limit_table_leave(t, number(t, i % KEYS));
    }
    return NULL;
}

static void run_threads(struct table *t, void *(*fn)(void *))
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fn, t), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void test_threads_have_one_account(void **state)
{
    struct table *t = limit_table_new(1000, secret);

    (void)state;
    run_threads(t, take_often);
    assert_int_equal(count(t).allowed, KEYS * 100);
    assert_int_equal(count(t).refused, THREADS * ROUNDS - KEYS * 100);
    limit_table_free(t);
}

static void test_all_that_threads_entered_is_left(void **state)
{
    struct table *t = limit_table_new(1000, secret);

    (void)state;
    run_threads(t, enter_often);
    for (uint32_t i = 0; i < KEYS; i++) {
        assert_int_equal(limit_table_enter(t, number(t, i), 2), TABLE_ENTERED);
        assert_int_equal(limit_table_enter(t, number(t, i), 2), TABLE_ENTERED);
        assert_int_equal(limit_table_enter(t, number(t, i), 2), TABLE_REFUSED);
    }
    limit_table_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash_is_siphash),
        cmocka_unit_test(test_keys_have_buckets_of_their_own),
        cmocka_unit_test(test_places_with_full_buckets_are_taken_without_loss),
        cmocka_unit_test(test_flood_of_ten_million_keys),
        cmocka_unit_test(test_requests_enter_and_leave),
        cmocka_unit_test(test_running_requests_keep_their_places),
        cmocka_unit_test(test_threads_have_one_account),
        cmocka_unit_test(test_all_that_threads_entered_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
