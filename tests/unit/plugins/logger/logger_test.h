/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOGGER_TEST_H
#define LOGGER_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <monkey/types.h>

#include <stdio.h>
#include <stdlib.h>

static inline void assert_text(const char *sentence, const char *p, size_t len,
                               const char *expected)
{
    if (len != strlen(expected) || memcmp(p, expected, len) != 0)
        fail_msg("%s: gave \"%.*s\" and not \"%s\"", sentence, (int)len, p, expected);
}

#endif
