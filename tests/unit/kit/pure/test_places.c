/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { SETS = 3 };

static struct place places[SETS * PLACES_WAYS];

static uint64_t hash_in(uint32_t set, uint32_t n)
{
    return (((uint64_t)set << 32) / SETS + 1) << 32 | n;
}

static struct place *put(uint64_t hash, int64_t number)
{
    struct place *place = places_get(places, SETS, hash);

    *place = (struct place){hash, number};
    return place;
}

static void a_key_keeps_its_place(void **state)
{
    (void)state;
    memset(places, 0, sizeof(places));
    for (uint32_t n = 0; n < PLACES_WAYS; n++)
        assert_ptr_equal(put(hash_in(1, n), 10 + n), &places[PLACES_WAYS + n]);
    for (uint32_t n = 0; n < PLACES_WAYS; n++) {
        const struct place *place = places_get(places, SETS, hash_in(1, n));

        assert_true(place->hash == hash_in(1, n));
        assert_int_equal(place->number, 10 + n);
    }
}

static void a_new_key_is_offered_the_lowest_number_of_its_set(void **state)
{
    (void)state;
    memset(places, 0, sizeof(places));
    for (uint32_t n = 0; n < PLACES_WAYS; n++)
        (void)put(hash_in(2, n), n == 5 ? 3 : 10);
    assert_ptr_equal(places_get(places, SETS, hash_in(2, 100)), &places[2 * PLACES_WAYS + 5]);
    assert_int_equal(places_get(places, SETS, hash_in(1, 100))->hash, 0);
    assert_int_equal(places_get(places, SETS, hash_in(0, 100))->hash, 0);
}

static void sets_lie_within_the_places(void **state)
{
    (void)state;
    assert_int_equal(places_set(0, SETS), 0);
    assert_int_equal(places_set(UINT64_MAX, SETS), SETS - 1);
    assert_int_equal(places_set(UINT64_MAX, 1), 0);
    assert_int_equal(places_set(UINT64_MAX, UINT32_MAX), UINT32_MAX - 1);
    assert_int_equal(places_hash(0), 1);
    assert_true(places_hash(UINT64_MAX) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_keeps_its_place),
        cmocka_unit_test(a_new_key_is_offered_the_lowest_number_of_its_set),
        cmocka_unit_test(sets_lie_within_the_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
