/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_FIELDS_H
#define MK_DUDA_FIELDS_H

/* Pairs of a form or query as a list, for free(). */

#include "webservice.h"

#include <monkey/types.h>

#include <stdbool.h>

struct mk_form;

enum { MK_DUDA_FIELDS_MAX = 1000 };

struct mk_duda_fields {
    unsigned count;
    size_t bytes;      /* of memory, with the texts that it has itself */
    bool is_malformed; /* pairs were left out */
    struct duda_field items[];
};

/** @return the fields of a form that lives longer; NULL without memory. */
struct mk_duda_fields *mk_duda_fields_of_form(const struct mk_form *form) MK_MUST_USE;
/** Likewise copies of the first pairs of a text, decoded. @return NULL without memory */
struct mk_duda_fields *mk_duda_fields_of_pairs(struct mk_str body) MK_MUST_USE;
/** Likewise in memory of alloc, which is not free()'s to give back. */
struct mk_duda_fields *mk_duda_fields_in(struct mk_str body, void *(*alloc)(void *arg, size_t size),
                                         void *arg) MK_MUST_USE;

/** Has a text more pairs than a form may have? */
bool mk_duda_has_too_many_fields(struct mk_str body);

#endif
