/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_TEST_STATES_H
#define MK_TEST_STATES_H

#include "base/invariant.h"
#include "core/states.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Tables of states, held against a list that a test writes out. */

struct change {
    const char *from, *to;
};

/** Walk all pairs of states: those of the list are allowed, and no others; each is traced by its names. */
void check_states(const struct mk_states *states, const struct change *allowed, size_t count);

#endif
