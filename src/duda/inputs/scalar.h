/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_INPUTS_SCALAR_H
#define MK_DUDA_INPUTS_SCALAR_H

#include "inputs/schema.h"
#include "inputs/values.h"
#include "json/tree.h"

/** What a check says without memory: no fault of the client. */
extern const char mk_duda_no_memory[];

/**
 * Check a value that is a text, as paths, queries, fields and forms have them.
 * @param row  of no list
 * @param to   its member, set when NULL is returned
 * @return NULL; a sentence of what is wrong, which lives as long as v or longer; mk_duda_no_memory
 */
const char *mk_duda_scalar_read(const struct mk_duda_row *row, struct mk_duda_values *v,
                                struct mk_str text, void *to) MK_MUST_USE;

/** The same for a value of JSON, which texts borrow from. */
const char *mk_duda_scalar_take(const struct mk_duda_row *row, struct mk_duda_values *v,
                                const json_t *item, void *to) MK_MUST_USE;

/** Is there a number of that many characters or items between the bounds of a row? @return as above. @param unit  "items" */
const char *mk_duda_count_check(const struct mk_duda_row *row, struct mk_duda_values *v,
                                size_t count, const char *unit) MK_MUST_USE;

#endif
