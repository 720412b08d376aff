/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REWRITE_VALUES_H
#define REWRITE_VALUES_H

#include "target.h"

/* What a request gives for the variables of a target. */

struct values {
    struct target_values of_target;
    char room[MK_VARIABLE_COUNT][MK_VARIABLE_ROOM];
};

/** @param v  stays where it is: values refer to it, and to the request */
void rewrite_values_of(struct values *v, const struct mk_request *r);
/**
 * @return whether a Location is the URL that was asked for, however it is encoded: a redirect would be followed for ever,
 *         or would change nothing.
 */
bool rewrite_values_lead_here(const struct values *v, struct mk_str location);

#endif
