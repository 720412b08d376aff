/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_INPUTS_INPUTS_H
#define MK_DUDA_INPUTS_INPUTS_H

/* The values of one request, checked after the table of its route. */

#include "inputs/schema.h"
#include "inputs/values.h"
#include "json/tree.h"

/** Where values are from. */
struct mk_duda_source {
    /* Value number n of that name, decoded, from 0 on; p NULL: there are fewer. Not of bodies. */
    struct mk_str (*get)(void *arg, enum duda_in in, const char *name, unsigned n);
    void *arg;
    const json_t *body; /* borrowed as long as the values; NULL: none */
};

/**
 * Read all values.
 * @param v  new; out: data and given, or faults
 * @return 0; MK_E_NOMEM: no memory, or more than MK_DUDA_VALUES_MAX
 */
int mk_duda_inputs_read(const struct mk_duda_schema *schema, const struct mk_duda_source *source,
                        struct mk_duda_values *v) MK_MUST_USE;

/* ---- for the files of this folder ---- */

/** Members of the object that a table describes, with those of the objects and lists in it: body.c. @return as above. */
int mk_duda_body_read(const struct mk_duda_rows *rows, const json_t *object,
                      struct mk_duda_values *v, char *data, uint64_t *given) MK_MUST_USE;

/** An input that is absent: its preset, or a fault. @param name  for the fault. @return as above. */
int mk_duda_absent(const struct mk_duda_row *row, struct mk_duda_values *v, const char *name,
                   char *data) MK_MUST_USE;

/** Add what a check has said; NULL: nothing. @return as above. */
int mk_duda_note(struct mk_duda_values *v, enum duda_in in, const char *name,
                 const char *sentence) MK_MUST_USE;

#endif
