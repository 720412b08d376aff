/* SPDX-License-Identifier: Apache-2.0 */
#include "states.h"

#include "server/h1/conn_state.h"

/* Which states of a connection may follow each other. test_h1.c walks them with requests. */

static const struct change allowed[] = {
    {"proxy", "offer"},   {"proxy", "idle"},    {"proxy", "flush"},   {"offer", "idle"},
    {"offer", "taken"},   {"offer", "flush"},   {"idle", "head"},     {"idle", "flush"},
    {"head", "route"},    {"head", "reply"},    {"head", "flush"},    {"route", "reply"},
    {"reply", "body"},    {"reply", "handler"}, {"reply", "drain"},   {"reply", "flush"},
    {"reply", "idle"},    {"body", "reply"},    {"body", "handler"},  {"body", "drain"},
    {"body", "flush"},    {"body", "idle"},     {"handler", "reply"}, {"handler", "body"},
    {"handler", "drain"}, {"handler", "flush"}, {"handler", "idle"},  {"taken", "flush"},
    {"drain", "flush"},   {"drain", "idle"},    {"flush", "taken"},   {"flush", "head"},
    {"flush", "idle"},    {"flush", "linger"},
};

static void a_connection_changes_as_the_table_says(void **state)
{
    (void)state;
    check_states(&mk_h1_states, allowed, MK_ARRAY_LEN(allowed));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_changes_as_the_table_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
