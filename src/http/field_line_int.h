/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_FIELD_LINE_INT_H
#define MK_HTTP_FIELD_LINE_INT_H

#include <monkey/types.h>

#include <stdbool.h>

/* The field lines of a head that was parsed and found good: each has a colon and ends in LF or CR LF. */

/**
 * Walk them in order of arrival.
 * @param at     in: 0 at first; out: for the next call
 * @param value  out: without blanks around it
 * @return false after the last.
 */
bool mk_field_line_next(struct mk_str lines, uint32_t *at, struct mk_str *name,
                        struct mk_str *value);

/** Find the first field of a name, case-insensitively. @return its value, or {NULL, 0}. */
struct mk_str mk_field_line_find(struct mk_str lines, struct mk_str name);

#endif
