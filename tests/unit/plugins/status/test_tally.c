/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tally.h"

#include <pthread.h>

static void test_buckets_end_at_their_bounds(void **state)
{
    (void)state;
    assert_int_equal(status_tally_bucket(0), 0);
    for (unsigned i = 0; i < TALLY_BUCKETS - 1; i++) {
        assert_int_equal(status_tally_bucket(status_tally_bounds_ms[i]), i);
        assert_int_equal(status_tally_bucket(status_tally_bounds_ms[i] + 1), i + 1);
    }
    assert_int_equal(status_tally_bucket(UINT32_MAX), TALLY_BUCKETS - 1);
}

static void test_any_status_has_a_class(void **state)
{
    static const unsigned statuses[] = {0, 99, 100, 200, 404, 599, 600, UINT32_MAX};
    static const uint64_t expected[TALLY_CLASSES] = {4, 1, 1, 0, 1, 1};
    struct tally *t = status_tally_new("a", 1);
    struct tally_sum sum;

    (void)state;
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
        tally_note(&t->lanes[0], statuses[i], 0, 10);
    status_tally_add_up(t, &sum);
    assert_memory_equal(sum.classes, expected, sizeof(expected));
    assert_int_equal(sum.count, 8);
    assert_int_equal(sum.buckets[0], 8);
    assert_int_equal(sum.duration_ms, 0);
    assert_int_equal(sum.body_bytes, 80);
    status_tally_put(t);
}

enum { LANES = 4, ROUNDS = 100000 };

static void *count(void *arg)
{
    struct tally_lane *lane = arg;

    for (unsigned i = 0; i < ROUNDS; i++)
        tally_note(lane, 200 + i % 2 * 204, i % 3, 1);
    return NULL;
}

static void test_lanes_lose_nothing(void **state)
{
    struct tally *t = status_tally_new("a", LANES);
    struct tally_sum sum;
    pthread_t threads[LANES];

    (void)state;
    for (unsigned i = 0; i < LANES; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count, &t->lanes[i]), 0);
    status_tally_add_up(t, &sum); /* while they count */
    for (unsigned i = 0; i < LANES; i++)
        pthread_join(threads[i], NULL);
    status_tally_add_up(t, &sum);
    assert_int_equal(sum.count, LANES * ROUNDS);
    assert_int_equal(sum.classes[2], LANES * ROUNDS / 2);
    assert_int_equal(sum.classes[4], LANES * ROUNDS / 2);
    assert_int_equal(sum.duration_ms, LANES * 99999);
    assert_int_equal(sum.body_bytes, LANES * ROUNDS);
    status_tally_put(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buckets_end_at_their_bounds),
        cmocka_unit_test(test_any_status_has_a_class),
        cmocka_unit_test(test_lanes_lose_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
