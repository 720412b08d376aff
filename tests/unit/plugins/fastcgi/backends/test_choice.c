/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backends/choice.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { NOW = 5000 };

static void the_least_loaded_is_chosen(void **state)
{
    static const struct {
        const char *sentence;
        struct choice choices[3];
        uint64_t tried;
        unsigned turn;
        int expected;
    } rows[] = {
        {"the one with the least work", {{3, 16, 0}, {1, 16, 0}, {2, 16, 0}}, 0, 0, 1},
        {"work counts by size: 3 of 30 are less than 1 of 5",
         {{1, 5, 0}, {3, 30, 0}, {9, 9, 0}},
         0,
         0,
         1},
        {"more work than connections counts on", {{20, 10, 0}, {31, 10, 0}, {19, 10, 0}}, 0, 0, 2},
        {"equals by turns: the first", {{0, 8, 0}, {0, 8, 0}, {0, 8, 0}}, 0, 0, 0},
        {"equals by turns: the second", {{0, 8, 0}, {0, 8, 0}, {0, 8, 0}}, 0, 1, 1},
        {"equals by turns: the third", {{0, 8, 0}, {0, 8, 0}, {0, 8, 0}}, 0, 5, 2},
        {"not one that was tried", {{0, 8, 0}, {5, 8, 0}, {6, 8, 0}}, 1, 0, 1},
        {"not one that is offline", {{0, 8, NOW + 1}, {5, 8, 0}, {6, 8, 0}}, 0, 0, 1},
        {"one whose time is over counts as the others",
         {{0, 8, NOW}, {5, 8, 0}, {6, 8, 0}},
         0,
         0,
         0},
        {"an offline one when the others were tried",
         {{0, 8, NOW + 1}, {5, 8, 0}, {6, 8, 0}},
         6,
         0,
         0},
        {"of those offline the one for longest",
         {{0, 8, NOW + 9}, {7, 8, NOW + 1}, {0, 8, NOW + 5}},
         0,
         0,
         1},
        {"none when all were tried", {{0, 8, 0}, {0, 8, 0}, {0, 8, 0}}, 7, 0, -1},
        {"a turn of any number", {{0, 8, 0}, {0, 8, 0}, {0, 8, 0}}, 0, UINT32_MAX, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int at = fastcgi_choice_make(rows[i].choices, 3, rows[i].tried, NOW, rows[i].turn);

        if (at != rows[i].expected)
            fail_msg("%s: chose %d and not %d", rows[i].sentence, at, rows[i].expected);
    }
}

static void as_many_as_the_mask_has_bits(void **state)
{
    struct choice choices[CHOICE_MAX];
    uint64_t tried = 0;

    (void)state;
    for (unsigned i = 0; i < CHOICE_MAX; i++)
        choices[i] = (struct choice){.busy = i, .max = 1};
    for (int i = 0; i < CHOICE_MAX; i++) {
        assert_int_equal(fastcgi_choice_make(choices, CHOICE_MAX, tried, 0, 7), i);
        tried |= UINT64_C(1) << i;
    }
    assert_int_equal(fastcgi_choice_make(choices, CHOICE_MAX, tried, 0, 7), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_loaded_is_chosen),
        cmocka_unit_test(as_many_as_the_mask_has_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
