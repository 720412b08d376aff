/* SPDX-License-Identifier: Apache-2.0 */
#include "states.h"

#include "server/backend/stream.h"

/* Which states of a stream may follow each other. */

static const struct change allowed[] = {
    {"waiting", "shaking"}, {"waiting", "open"},   {"waiting", "broken"}, {"waiting", "closed"},
    {"shaking", "open"},    {"shaking", "broken"}, {"shaking", "closed"}, {"open", "broken"},
    {"open", "closed"},     {"broken", "closed"},
};

static void a_stream_changes_as_the_table_says(void **state)
{
    (void)state;
    check_states(&mk_stream_states, allowed, MK_ARRAY_LEN(allowed));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_changes_as_the_table_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
