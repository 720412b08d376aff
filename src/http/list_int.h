/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_LIST_INT_H
#define MK_HTTP_LIST_INT_H

#include <monkey/types.h>

#include <stdbool.h>

/**
 * Cut the next non-empty member off a comma-separated list: RFC 9110 section 5.6.1. Commas in
 * quotes are not known here.
 * @param rest    in: what is left of the list; out: what follows the member and its comma
 * @param member  out: without blanks around it, borrowed from rest
 * @return false when no member was left.
 */
bool mk_list_next(struct mk_str *rest, struct mk_str *member);

#endif
