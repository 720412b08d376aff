/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_FORM_H
#define MK_DUDA_OBJECTS_FORM_H

#include "inputs/fields.h"

struct mk_duda_request;

/** @return the fields of the body, which the request keeps; none, if it is no form; NULL without memory. */
const struct mk_duda_fields *mk_duda_form_of(struct mk_duda_request *rq);

/** @return whether the body is of a type of forms, as its head says. */
bool mk_duda_form_is_sent(const struct mk_duda_request *rq);

#endif
