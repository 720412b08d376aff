/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_WEB_FAILING_H
#define TESTS_WEB_FAILING_H

#include <stdbool.h>
#include <threads.h>

/* Allocations of this thread that fail, as far as they do not pass the library's own heap. */

static thread_local unsigned fails_in; /* the number of the one that fails; 0: none */

static bool memory_fails(void)
{
    return fails_in > 0 && --fails_in == 0;
}

#include "../wrapped_memory.h"

#endif
