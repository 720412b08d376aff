/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>

#include "backends/latency.h"

static void expect_near(uint64_t got, uint64_t wanted)
{
    assert_in_range(got, wanted - wanted / 15, wanted + wanted / 15);
}

static void test_nothing(void **state)
{
    static struct latency l;
    struct latency_facts f;

    (void)state;
    proxy_latency_facts(&l, 5, &f);
    assert_int_equal(f.count, 0);
    assert_int_equal(f.p99_us, 0);
}

static void test_each_value_is_told_nearly(void **state)
{
    (void)state;
    for (uint64_t us = 1; us < UINT64_C(3600000000); us = us * 5 / 4 + 1) {
        struct latency l = {0};
        struct latency_facts f;

        proxy_latency_count(&l, us, 1000);
        proxy_latency_facts(&l, 1000, &f);
        assert_int_equal(f.count, 1);
        expect_near(f.p50_us, us);
        expect_near(f.max_us, us);
    }
}

static void test_the_longest_has_a_bucket(void **state)
{
    static struct latency l;
    struct latency_facts f;

    (void)state;
    proxy_latency_count(&l, UINT64_MAX, 0);
    proxy_latency_count(&l, 0, 0);
    proxy_latency_facts(&l, 0, &f);
    assert_int_equal(f.count, 2);
    assert_int_equal(f.p50_us, 0);
    assert_true(f.max_us > UINT64_C(3600000000));
}

static void test_percentiles(void **state)
{
    static struct latency l;
    struct latency_facts f;

    (void)state;
    for (unsigned i = 1; i <= 1000; i++)
        proxy_latency_count(&l, i * 100, 7);
    proxy_latency_facts(&l, 7, &f);
    assert_int_equal(f.count, 1000);
    expect_near(f.p50_us, 50000);
    expect_near(f.p90_us, 90000);
    expect_near(f.p99_us, 99000);
    expect_near(f.max_us, 100000);
}

static void test_old_ones_are_forgotten(void **state)
{
    static const struct {
        int64_t at_ms;
        uint64_t left;
    } rows[] = {
        {LATENCY_WINDOW_MS * 10 + 5, 1},
        {LATENCY_WINDOW_MS * 11, 1},
        {LATENCY_WINDOW_MS * 12 - 1, 1},
        {LATENCY_WINDOW_MS * 12, 0},
    };
    static struct latency l;

    (void)state;
    proxy_latency_count(&l, 100, LATENCY_WINDOW_MS * 10);
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct latency_facts f;

        proxy_latency_facts(&l, rows[i].at_ms, &f);
        assert_int_equal(f.count, rows[i].left);
    }
    proxy_latency_count(&l, 100, LATENCY_WINDOW_MS * 12);
    proxy_latency_count(&l, 100, (int64_t)LATENCY_WINDOW_MS * 1000); /* hours later */
    struct latency_facts f;

    proxy_latency_facts(&l, (int64_t)LATENCY_WINDOW_MS * 1000, &f);
    assert_int_equal(f.count, 1);
}

/* A worker whose clock is a turn behind. */
static void test_time_does_not_go_back(void **state)
{
    static struct latency l;
    struct latency_facts f;

    (void)state;
    proxy_latency_count(&l, 100, LATENCY_WINDOW_MS * 3);
    proxy_latency_count(&l, 100, LATENCY_WINDOW_MS * 3 - 1);
    proxy_latency_facts(&l, LATENCY_WINDOW_MS * 3, &f);
    assert_int_equal(f.count, 2);
}

static void *count_many(void *arg)
{
    for (unsigned i = 0; i < 20000; i++)
        proxy_latency_count(arg, i % 1000, 1);
    return NULL;
}

static void test_threads(void **state)
{
    static struct latency l;
    struct latency_facts f;
    pthread_t threads[4];

    (void)state;
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_many, &l), 0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    proxy_latency_facts(&l, 1, &f);
    assert_int_equal(f.count, 80000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_each_value_is_told_nearly),
        cmocka_unit_test(test_the_longest_has_a_bucket),
        cmocka_unit_test(test_percentiles),
        cmocka_unit_test(test_old_ones_are_forgotten),
        cmocka_unit_test(test_time_does_not_go_back),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
