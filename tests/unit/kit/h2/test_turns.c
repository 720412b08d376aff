/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kit/h2/turns.h"

#include <stdlib.h>

/* RFC 9218 section 4 and 5 */
static void test_the_field(void **state)
{
    static const struct {
        const char *value;
        uint8_t urgency;
        bool is_incremental;
    } rows[] = {
        {"", 3, false},         {"u=0", 0, false},     {"u=7, i", 7, true},
        {"i", 3, true},         {"i=?1", 3, true},     {"i=?0", 3, false},
        {"u=8", 3, false},      {"u=-1", 3, false},    {"u=1;x=y, i;z", 1, true},
        {"x=y, u=5", 5, false}, {"u=1,u=2", 2, false}, {"u=a, i", 3, false},
        {"i=1, u=1", 3, false}, {"u=", 3, false},      {",,,", 3, false},
        {"u", 3, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct h2_priority p = {.urgency = H2_URGENCY};

        h2_priority_read(&p, mk_str_from(rows[i].value));
        if (p.urgency != rows[i].urgency || p.is_incremental != rows[i].is_incremental)
            fail_msg("%s: u=%u i=%d", rows[i].value, p.urgency, p.is_incremental);
    }
}

/* The order in which streams leave that need so many frames each. */
static void expect_order(struct h2_turn *turns, const int *frames, size_t count, const char *order)
{
    struct h2_turns t = {.first = {NULL}};
    int left[8];

    for (size_t i = 0; i < count; i++) {
        left[i] = frames[i];
        h2_turns_add(&t, &turns[i]);
        h2_turns_add(&t, &turns[i]); /* it is there already */
    }
    for (; *order; order++) {
        struct h2_turn *turn = h2_turns_next(&t);
        size_t i = (size_t)(turn - turns);

        assert_non_null(turn);
        assert_int_equal(turn->id, *order - '0');
        if (--left[i] == 0)
            h2_turns_remove(&t, turn);
        else
            h2_turns_pass(&t, turn);
    }
    assert_null(h2_turns_next(&t));
}

static struct h2_turn turn(uint32_t id, uint8_t urgency, bool is_incremental)
{
    return (struct h2_turn){.id = id, .priority = {urgency, is_incremental}};
}

/* RFC 9218 section 10 */
static void test_the_order(void **state)
{
    struct h2_turn urgent_last[] = {turn(1, 3, false), turn(3, 3, false), turn(5, 0, false)};
    struct h2_turn shared[] = {turn(1, 3, true), turn(3, 3, true), turn(5, 3, true)};
    struct h2_turn mixed[] = {turn(1, 3, true), turn(7, 3, false), turn(5, 3, false),
                              turn(3, 3, true)};

    (void)state;
    expect_order(urgent_last, (int[]){2, 1, 2}, 3, "55113");
    expect_order(shared, (int[]){1, 3, 2}, 3, "135353");
    expect_order(mixed, (int[]){2, 1, 2, 1}, 4, "557131");
}

static void test_whether_there_is_a_choice(void **state)
{
    struct h2_turns t = {.first = {NULL}};
    struct h2_turn all[] = {turn(1, 3, true), turn(3, 3, true), turn(5, 0, false)};

    (void)state;
    assert_false(h2_turns_are_shared(&t));
    h2_turns_add(&t, &all[0]);
    assert_false(h2_turns_are_shared(&t));
    h2_turns_add(&t, &all[1]);
    assert_true(h2_turns_are_shared(&t));
    h2_turns_remove(&t, &all[0]);
    assert_false(h2_turns_are_shared(&t));
    h2_turns_add(&t, &all[2]); /* of another urgency */
    assert_true(h2_turns_are_shared(&t));
    h2_turns_remove(&t, &all[1]);
    assert_false(h2_turns_are_shared(&t));
}

/* Seeded: what is added and not removed is found, the most urgent first. */
static void test_random_order(void **state)
{
    struct h2_turns t = {.first = {NULL}};
    struct h2_turn all[64];
    unsigned short seed[3] = {1, 2, 3};

    (void)state;
    for (uint32_t i = 0; i < 64; i++)
        all[i] = turn(i, (uint8_t)(nrand48(seed) % H2_URGENCIES), nrand48(seed) % 2);
    for (int step = 0; step < 20000; step++) {
        struct h2_turn *one = &all[nrand48(seed) % 64], *next = h2_turns_next(&t);

        if (nrand48(seed) % 2)
            h2_turns_add(&t, one);
        else
            h2_turns_remove(&t, one);
        if (next && next->is_waiting)
            h2_turns_pass(&t, next);
        next = h2_turns_next(&t);
        for (size_t i = 0; i < 64; i++) {
            if (all[i].is_waiting)
                assert_true(next && next->priority.urgency <= all[i].priority.urgency);
        }
        assert_true(!next || next->is_waiting);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_field),
        cmocka_unit_test(test_the_order),
        cmocka_unit_test(test_whether_there_is_a_choice),
        cmocka_unit_test(test_random_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
