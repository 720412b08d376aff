/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "objects/guards/rate_table.h"

#include <stdlib.h>

enum { SECOND = 1000000000 };

static struct mk_duda_rate_table *new_table(unsigned requests, unsigned seconds)
{
    struct mk_duda_rate_table *t = calloc(1, sizeof(*t));

    assert_non_null(t);
    mk_duda_rate_init(t, requests, seconds, 42);
    return t;
}

static void a_client_regains_what_it_has_sent(void **state)
{
    struct mk_duda_rate_table *t = new_table(4, 2);
    int64_t now = 1;

    (void)state;
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(mk_duda_rate_take(t, 7, now), 0);
    assert_int_equal(mk_duda_rate_take(t, 7, now), SECOND / 2);
    assert_int_equal(mk_duda_rate_take(t, 8, now), 0); /* another one */
    assert_int_equal(mk_duda_rate_take(t, 7, now + SECOND / 4), SECOND / 4);
    now += SECOND / 2;
    assert_int_equal(mk_duda_rate_take(t, 7, now), 0);
    assert_int_equal(mk_duda_rate_take(t, 7, now), SECOND / 2);
    now += (int64_t)100 * SECOND; /* no more than all of it */
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(mk_duda_rate_take(t, 7, now), 0);
    assert_true(mk_duda_rate_take(t, 7, now) > 0);
    free(t);
}

static void bounds_are_exact_at_the_ends(void **state)
{
    struct mk_duda_rate_table *t = new_table(1, MK_DUDA_RATE_MOST);

    (void)state;
    assert_int_equal(mk_duda_rate_take(t, 0, 1), 0);
    assert_int_equal(mk_duda_rate_take(t, 0, 1), (uint64_t)MK_DUDA_RATE_MOST * SECOND);
    mk_duda_rate_init(t, MK_DUDA_RATE_MOST, 1, 0);
    for (unsigned i = 0; i < MK_DUDA_RATE_MOST; i++)
        assert_int_equal(mk_duda_rate_take(t, 1, 1), 0);
    assert_int_equal(mk_duda_rate_take(t, 1, 1), SECOND / MK_DUDA_RATE_MOST);
    free(t);
}

/* The table is as large as before, and who has sent most is still known. */
static void a_flood_of_clients_hides_no_busy_one(void **state)
{
    struct mk_duda_rate_table *t = new_table(10, 10);

    (void)state;
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(mk_duda_rate_take(t, 5, 1), 0);
    for (uint64_t client = 1000; client < 1000 + 20 * MK_DUDA_RATE_CLIENTS; client++)
        assert_int_equal(mk_duda_rate_take(t, client, 1), 0);
    assert_int_equal(mk_duda_rate_take(t, 5, 1), SECOND);
    free(t);
}

static void clients_are_addresses_or_networks(void **state)
{
    static const struct {
        uint8_t ip[16];
        unsigned client;
    } rows[] = {
        {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1}, 1},
        {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 2}, 2},
        {{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 1, 9, 9, 9, 9, 9, 9, 9, 9}, 3},
        {{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 1, 8, 8, 8, 8, 8, 8, 8, 8}, 3},
        {{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 2}, 4},
        {{0}, 5},
        {{192, 0, 2, 1}, 6},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        for (size_t k = 0; k < NUMBER_OF(rows); k++)
            assert_int_equal(mk_duda_rate_client(rows[i].ip) == mk_duda_rate_client(rows[k].ip),
                             rows[i].client == rows[k].client);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_regains_what_it_has_sent),
        cmocka_unit_test(bounds_are_exact_at_the_ends),
        cmocka_unit_test(a_flood_of_clients_hides_no_busy_one),
        cmocka_unit_test(clients_are_addresses_or_networks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
