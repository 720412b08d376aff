/* SPDX-License-Identifier: Apache-2.0 */
#include "id.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void expect(struct trace_counter *c, int64_t now_ms, uint64_t random, const char *wanted)
{
    char text[TRACE_ID_TEXT];

    trace_id_write(text, c, now_ms, random);
    assert_memory_equal(text, wanted, TRACE_ID_TEXT);
}

/* The first ten digits are those of the specification's example, which has the same time. */
static void an_id_is_a_time_a_count_and_random_bits(void **state)
{
    struct trace_counter c = {0, 0};

    (void)state;
    expect(&c, 1469918176385, 0, "01ARYZ6S410000000000000000");
    expect(&c, 1469918176385, 1, "01ARYZ6S41000G000000000001");
    expect(&c, 1469918176386, UINT64_MAX, "01ARYZ6S42000FZZZZZZZZZZZZ");
}

static void ids_of_a_worker_sort(void **state)
{
    struct trace_counter c = {0, 0};
    char before[TRACE_ID_TEXT] = "", text[TRACE_ID_TEXT];

    (void)state;
    for (unsigned i = 0; i < 200000; i++) {
        /* the clock stands, goes on, and once goes back */
        const int64_t now_ms = 1800000000000 + i / 150000 - (i > 180000 ? 5000 : 0);

        trace_id_write(text, &c, now_ms, i % 2 ? 0 : UINT64_MAX);
        assert_true(memcmp(before, text, sizeof(text)) < 0);
        memcpy(before, text, sizeof(text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_is_a_time_a_count_and_random_bits),
        cmocka_unit_test(ids_of_a_worker_sort),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
