/* SPDX-License-Identifier: Apache-2.0 */
#include "states.h"

#include "server/request/request_state.h"

/* Which states of a request may follow each other. test_trace.py reads those that requests go through. */

static const struct change asking[] = {
    {"head", "asked"},   {"head", "over"},      {"asked", "roused"}, {"asked", "parked"},
    {"asked", "moved"},  {"asked", "dropped"},  {"asked", "over"},   {"roused", "woken"},
    {"roused", "moved"}, {"roused", "dropped"}, {"roused", "over"},  {"parked", "asked"},
    {"parked", "woken"}, {"parked", "moved"},   {"parked", "over"},  {"woken", "asked"},
    {"woken", "moved"},  {"woken", "over"},     {"moved", "asked"},  {"moved", "dropped"},
    {"moved", "over"},   {"dropped", "over"},
};

static const struct change answering[] = {
    {"none", "head"},    {"none", "broken"},  {"head", "none"},    {"head", "filters"},
    {"head", "body"},    {"head", "broken"},  {"filters", "head"}, {"filters", "broken"},
    {"body", "starved"}, {"body", "ended"},   {"body", "cut"},     {"starved", "body"},
    {"starved", "cut"},  {"ended", "broken"},
};

static const struct change receiving[] = {
    {"none", "unread"},
    {"unread", "reading"},
    {"reading", "done"},
};

static void a_question_changes_as_the_table_says(void **state)
{
    (void)state;
    check_states(&mk_asking_states, asking, MK_ARRAY_LEN(asking));
}

static void an_answer_changes_as_the_table_says(void **state)
{
    (void)state;
    check_states(&mk_answering_states, answering, MK_ARRAY_LEN(answering));
}

static void receiving_changes_as_the_table_says(void **state)
{
    (void)state;
    check_states(&mk_receiving_states, receiving, MK_ARRAY_LEN(receiving));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_changes_as_the_table_says),
        cmocka_unit_test(receiving_changes_as_the_table_says),
        cmocka_unit_test(an_answer_changes_as_the_table_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
