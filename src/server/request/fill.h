/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_REQUEST_FILL_H
#define MK_SERVER_REQUEST_FILL_H

#include "server/request/request.h"

#include <monkey/variables.h>

/* Texts of settings with what a request gives for their variables, each escaped for its place. */

enum mk_fill_place {
    MK_FILL_LINE, /* the value of a field: the whole is to be looked at, since values may be none */
    MK_FILL_URL,  /* a Location; behind the first `?` of the setting's own text as QUERY */
    MK_FILL_QUERY, /* of a request: the query as it was sent, others as values in it */
    MK_FILL_FILE, /* a decoded path below a root: no value but the path is more than a part of a name */
};

/**
 * @return terminated, in the request's memory. p NULL: no memory, or more than MK_LIMIT_FILLED; len 0, for FILE: a value is empty,
 *         begins with a dot or has a slash, so no file has the name.
 */
struct mk_str mk_template_fill(struct mk_request *r, const struct mk_template *t,
                               enum mk_fill_place place) MK_MUST_USE;

#endif
