/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t all[2] = {UINT64_MAX, UINT64_MAX}, nobody[2] = {0, 0};

static struct ring *ring_of_three(void)
{
    struct ring *ring = ring_new(4);

    assert_non_null(ring);
    ring_add(ring, 3000, 70);
    ring_add(ring, 1000, 2);
    ring_add(ring, 3000, 1);
    ring_add(ring, UINT32_MAX, 2);
    ring_sort(ring);
    return ring;
}

static void a_key_belongs_to_the_next_point(void **state)
{
    struct ring *ring = ring_of_three();

    (void)state;
    assert_int_equal(ring_find(ring, 0, all), 2);
    assert_int_equal(ring_find(ring, 1000, all), 2);
    assert_int_equal(ring_find(ring, 1001, all), 1);
    assert_int_equal(ring_find(ring, 3000, all), 1);
    assert_int_equal(ring_find(ring, 3001, all), 2);
    assert_int_equal(ring_find(ring, UINT32_MAX, all), 2);
    ring_free(ring);
}

static void owners_that_may_not_be_chosen_are_passed_over(void **state)
{
    const uint64_t first[2] = {1 << 1, 0}, second[2] = {1 << 2, 0}, last[2] = {0, 1 << 6};
    struct ring *ring = ring_of_three();

    (void)state;
    assert_int_equal(ring_find(ring, UINT32_MAX, first), 1);
    assert_int_equal(ring_find(ring, 1001, second), 2);
    assert_int_equal(ring_find(ring, UINT32_MAX, last), 70);
    assert_int_equal(ring_find(ring, 1000, nobody), -1);
    ring_free(ring);
}

static void an_empty_ring_has_no_owner(void **state)
{
    struct ring *ring = ring_new(0);

    (void)state;
    assert_non_null(ring);
    ring_sort(ring);
    assert_int_equal(ring_find(ring, 0, all), -1);
    assert_int_equal(ring_find(ring, UINT32_MAX, all), -1);
    ring_free(ring);
    ring_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_belongs_to_the_next_point),
        cmocka_unit_test(owners_that_may_not_be_chosen_are_passed_over),
        cmocka_unit_test(an_empty_ring_has_no_owner),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
