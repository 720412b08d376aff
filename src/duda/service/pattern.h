/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_PATTERN_H
#define MK_DUDA_SERVICE_PATTERN_H

/* Patterns of the router of level 3: "/books/:id<int>". The types are ours; the rest is that of <monkey/web/router.h>. */

#include "kit/text/type.h"

#include <monkey/web/router.h>

/** A variable that has a type. */
struct mk_duda_typed {
    struct mk_str name;
    enum text_type type;
};

struct mk_duda_pattern {
    char plain[MK_ROUTE_PATTERN + 1]; /* without the types */
    struct mk_duda_typed typed[MK_ROUTE_VALUES];
    unsigned ntyped;
};

/**
 * Take the types out of a pattern. What is malformed otherwise is left to the router.
 * @param text  borrowed by the names of p
 * @return NULL; else a sentence, static: what is wrong with it
 */
const char *mk_duda_pattern_read(struct mk_duda_pattern *p, struct mk_str text) MK_MUST_USE;

/** Read a decimal number, perhaps with a sign. @return false: it is none, or too large; *number is unchanged. */
bool mk_duda_number_read(struct mk_str text, long *number);

/** Is a value, decoded, of that type, and a number no larger than services can read? */
bool mk_duda_type_fits(enum text_type type, struct mk_str value);

#endif
