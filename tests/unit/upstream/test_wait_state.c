/* SPDX-License-Identifier: Apache-2.0 */
#include "states.h"

#include "upstream/upstream_int.h"

/* Which states of a wait for a connection to a backend may follow each other. */

static const struct change allowed[] = {
    {"new", "queued"},         {"new", "promised"},       {"queued", "resolving"},
    {"queued", "served"},      {"queued", "failed"},      {"queued", "left"},
    {"promised", "resolving"}, {"promised", "served"},    {"promised", "failed"},
    {"promised", "left"},      {"resolving", "pausing"},  {"resolving", "dialling"},
    {"resolving", "failed"},   {"resolving", "left"},     {"pausing", "dialling"},
    {"pausing", "failed"},     {"pausing", "left"},       {"dialling", "pausing"},
    {"dialling", "served"},    {"dialling", "failed"},    {"dialling", "left"},
    {"pausing", "resolving"},  {"dialling", "resolving"},
};

static void a_wait_changes_as_the_table_says(void **state)
{
    (void)state;
    check_states(&mk_wait_states, allowed, MK_ARRAY_LEN(allowed));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_changes_as_the_table_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
