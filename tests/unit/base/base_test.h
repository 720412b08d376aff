/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_BASE_TEST_H
#define TESTS_BASE_TEST_H

/* What cmocka wants before it, and a check that a test gave all its memory back. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/heap.h"

static inline int expect_no_leak(void **state)
{
    (void)state;
    mk_heap_fail_after(-1);
    return mk_heap_live() == 0 ? 0 : -1;
}

#define LEAK_CHECKED(test) cmocka_unit_test_teardown(test, expect_no_leak)

#endif
