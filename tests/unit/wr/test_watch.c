/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "watch.h"

/* Where times have 64 bits and longs 32, a wait of less than a second was none, and wr took a whole core. */
static void test_a_pause_takes_its_time(void **state)
{
    double begin = watch_now_ms();

    (void)state;
    watch_pause(50);
    assert_true(watch_now_ms() - begin >= 49);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pause_takes_its_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
