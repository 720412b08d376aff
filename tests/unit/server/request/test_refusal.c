/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "base/str.h"
#include "http/status.h"
#include "server/request/refusal.h"

static void every_refusal_has_a_status_and_a_sentence(void **state)
{
    (void)state;
    for (int i = MK_REFUSAL_NONE + 1; i < MK_REFUSAL_COUNT; i++) {
        unsigned status = mk_refusal_status(i);

        assert_true(strlen(mk_refusal_text(i)) > 5);
        if (i == MK_REFUSAL_CHOSEN)
            continue;
        assert_in_range(status, 400, 599);
        assert_true(mk_status_reason(status).len > 0);
    }
}

static void every_fault_of_a_head_has_a_status(void **state)
{
    static const struct {
        enum mk_h1_fault fault;
        unsigned status;
    } special[] = {
        {MK_H1_FAULT_TARGET_LONG, 414},    {MK_H1_FAULT_VERSION_MAJOR, 505},
        {MK_H1_FAULT_FIELDS_MANY, 431},    {MK_H1_FAULT_HEAD_LONG, 431},
        {MK_H1_FAULT_CODING_UNKNOWN, 501}, {MK_H1_FAULT_EXPECTATION, 417},
    };

    (void)state;
    for (int i = MK_H1_FAULT_NONE + 1; i < MK_H1_FAULT_COUNT; i++) {
        unsigned expected = 400;

        for (size_t j = 0; j < MK_ARRAY_LEN(special); j++) {
            if ((int)special[j].fault == i)
                expected = special[j].status;
        }
        if (mk_fault_status(i) != expected)
            fail_msg("%s: %u", mk_h1_fault_text(i), mk_fault_status(i));
        assert_true(mk_status_reason(expected).len > 0);
    }
}

static void every_close_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < MK_CLOSE_COUNT; i++) {
        assert_true(strlen(mk_close_text(i)) > 5);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(mk_close_name(i), mk_close_name(j));
    }
    assert_false(mk_close_is_error(MK_CLOSE_DONE));
    assert_false(mk_close_is_error(MK_CLOSE_IDLE));
    assert_true(mk_close_is_error(MK_CLOSE_PEER_CUT));
    assert_true(mk_close_is_error(MK_CLOSE_TRUNCATED));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_refusal_has_a_status_and_a_sentence),
        cmocka_unit_test(every_fault_of_a_head_has_a_status),
        cmocka_unit_test(every_close_has_a_name_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
