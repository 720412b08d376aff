/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CONF_NAMES_INT_H
#define MK_CONF_NAMES_INT_H

#include "base/arena.h"

/* Paths gathered one by one, then sorted bytewise: the order must not depend on the locale. */

struct mk_names {
    struct mk_arena *arena;
    struct mk_name *last;
    size_t count;
};

/** Take a copy. @return 0 or MK_E_NOMEM. */
int mk_names_add(struct mk_names *n, struct mk_str text) MK_MUST_USE;

/** @param sorted  out: NULL-terminated array in the arena. @return their number or MK_E_NOMEM. */
int mk_names_sorted(const struct mk_names *n, const char *const **sorted) MK_MUST_USE;

#endif
