/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "walk.h"

enum { NEW, AGAIN, OVER };

static const struct states_row rows[] = {
    [NEW] = {"new", 1U << AGAIN | 1U << OVER},
    [AGAIN] = {"again", 1U << AGAIN | 1U << OVER},
    [OVER] = {"over", 0},
};
static const struct states table = {"thing", 3, rows};

static const struct way ways[] = {
    {"at once", {"new", "over"}},
    {"the long way", {"new", "again", "again", "over"}},
    {NULL, {NULL}},
};

struct seen {
    unsigned n, was, is;
};

static void note(const void *of, const struct states *t, unsigned was, unsigned is)
{
    struct seen *seen = *(struct seen *const *)of;

    assert_ptr_equal(t, &table);
    *seen = (struct seen){seen->n + 1, was, is};
}

static void test_a_table_and_its_ways(void **state)
{
    (void)state;
    check_ways(&table, ways);
}

static void test_each_change_is_logged_before_it_is_made(void **state)
{
    struct seen seen = {0}, *const of = &seen;
    uint8_t now = NEW;

    (void)state;
    states_turn(&table, &now, AGAIN, note, &of);
    assert_int_equal(now, AGAIN);
    assert_int_equal(seen.was, NEW);
    assert_int_equal(seen.is, AGAIN);
    states_turn(&table, &now, AGAIN, note, &of);
    assert_int_equal(seen.n, 2);
    states_turn(&table, &now, OVER, NULL, NULL);
    assert_int_equal(now, OVER);
    assert_int_equal(seen.n, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_table_and_its_ways),
        cmocka_unit_test(test_each_change_is_logged_before_it_is_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
