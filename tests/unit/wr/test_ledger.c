/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ledger.h"

#define TICK 10000000U

static void test_only_what_came_after_the_beginning_counts(void **state)
{
    struct ledger l = {.own[WR_CPU] = 500, .children[WR_CPU] = 70};

    (void)state;
    ledger_begin(&l);
    assert_int_equal(ledger_value(&l, WR_CPU), 0);
    l.own[WR_CPU] = 700;
    l.children[WR_CPU] = 100;
    assert_int_equal(ledger_value(&l, WR_CPU), 230);
}

static void test_a_child_counts_once_when_its_parent_waited_for_it(void **state)
{
    struct ledger parent = {0}, child = {.own[WR_CPU] = 12345678};

    (void)state;
    ledger_inherit(&parent, &child);
    assert_int_equal(ledger_value(&parent, WR_CPU), 12345678);
    parent.children[WR_CPU] = TICK;
    assert_int_equal(ledger_value(&parent, WR_CPU), 12345678);
    parent.children[WR_CPU] = 5 * TICK; /* it went on after it was last seen */
    assert_int_equal(ledger_value(&parent, WR_CPU), 5 * TICK);
}

static void test_a_child_counts_when_nobody_waited_for_it(void **state)
{
    struct ledger parent = {0}, child = {.own = {[WR_CPU] = 10, [WR_DELAY] = 20, [WR_MINOR] = 30}};

    (void)state;
    ledger_inherit(&parent, &child);
    assert_int_equal(ledger_value(&parent, WR_CPU), 10);
    assert_int_equal(ledger_value(&parent, WR_DELAY), 20);
    assert_int_equal(ledger_value(&parent, WR_MINOR), 30);
}

static void test_what_a_child_used_before_is_not_the_parents(void **state)
{
    struct ledger parent = {0}, child = {.own[WR_CPU] = 100 * TICK};

    (void)state;
    ledger_begin(&child);
    child.own[WR_CPU] += 2 * TICK;
    ledger_inherit(&parent, &child);
    parent.children[WR_CPU] = 102 * TICK;
    assert_int_equal(ledger_value(&parent, WR_CPU), 2 * TICK);
}

static void test_grandchildren_come_up_through_their_parent(void **state)
{
    struct ledger top = {0}, middle = {.own[WR_CPU] = 1}, leaf = {.own[WR_CPU] = 40};

    (void)state;
    ledger_inherit(&middle, &leaf);
    ledger_inherit(&top, &middle);
    assert_int_equal(ledger_value(&top, WR_CPU), 41);
}

static void test_bytes_of_children_are_in_the_parents_own_number(void **state)
{
    struct ledger parent = {.own[WR_READ] = 5}, child = {.own[WR_READ] = 100};

    (void)state;
    ledger_begin(&child);
    child.own[WR_READ] = 130;
    ledger_inherit(&parent, &child);
    parent.own[WR_READ] = 135; /* waited for: all that the child ever read */
    assert_int_equal(ledger_value(&parent, WR_READ), 35);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_what_came_after_the_beginning_counts),
        cmocka_unit_test(test_a_child_counts_once_when_its_parent_waited_for_it),
        cmocka_unit_test(test_a_child_counts_when_nobody_waited_for_it),
        cmocka_unit_test(test_what_a_child_used_before_is_not_the_parents),
        cmocka_unit_test(test_grandchildren_come_up_through_their_parent),
        cmocka_unit_test(test_bytes_of_children_are_in_the_parents_own_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
