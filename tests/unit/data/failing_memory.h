/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAILING_MEMORY_H
#define FAILING_MEMORY_H

#include "data_test.h"

#include <monkey/types.h>

#include <stdbool.h>

/* Allocations of what is tested fail from a number on: the linker leads those of the program itself here (--wrap). */

static long memory_left = -1; /* allocations until they fail; -1: none does */

static bool memory_fails(void)
{
    if (memory_left > 0)
        memory_left--;
    else if (memory_left == 0)
        return true;
    return false;
}

#define WRAPS_REALLOC
#include "../wrapped_memory.h"

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);

char *__wrap_strdup(const char *text)
{
    return memory_fails() ? NULL : __real_strdup(text);
}

/* Memory is all that make() lacks until it has enough. @return the allocations that it takes */
static long allocations_of(int (*make)(void))
{
    int err = MK_E_NOMEM;
    long n = 0;

    for (; err != 0 && n < 100; n++) {
        memory_left = n;
        err = make();
        memory_left = -1;
        if (err != 0)
            assert_int_equal(err, MK_E_NOMEM);
    }
    assert_int_equal(err, 0);
    return n;
}

#endif
