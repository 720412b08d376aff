/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kit/h2/past.h"

/* RFC 9113 section 5.1: what a peer sent before it saw our RST_STREAM is skipped, all else is an error. */
static void test_frames_of_closed_streams(void **state)
{
    struct h2_past p = {.nends = 0};

    (void)state;
    h2_past_add(&p, 3, false);
    h2_past_add(&p, 5, true);
    assert_int_equal(h2_past_judge(&p, 3, true), H2_E_STREAM_CLOSED);
    assert_int_equal(h2_past_judge(&p, 3, false), H2_E_STREAM_CLOSED);
    assert_int_equal(h2_past_judge(&p, 5, true), H2_E_NO_ERROR);
    assert_int_equal(h2_past_judge(&p, 5, false), H2_E_NO_ERROR);
    /* never begun, and older than the newest */
    assert_int_equal(h2_past_judge(&p, 7, false), H2_E_PROTOCOL_ERROR);
    assert_int_equal(h2_past_judge(&p, 7, true), H2_E_STREAM_CLOSED);
}

static void test_what_is_forgotten_is_no_error(void **state)
{
    struct h2_past p = {.nends = 0};
    uint32_t id = 1;

    (void)state;
    for (; id < 2 * H2_PAST_RESETS + 5; id += 2)
        h2_past_add(&p, id, true);
    assert_int_equal(h2_past_judge(&p, 1, true), H2_E_NO_ERROR); /* reset by us, long ago */
    h2_past_add(&p, id, false);
    assert_int_equal(h2_past_judge(&p, id, true), H2_E_STREAM_CLOSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_of_closed_streams),
        cmocka_unit_test(test_what_is_forgotten_is_no_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
