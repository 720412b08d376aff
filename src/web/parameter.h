/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_WEB_PARAMETER_H
#define MK_WEB_PARAMETER_H

#include <monkey/types.h>

/**
 * Cut the next `; name=value` off what follows a media type or a disposition (RFC 9110 section 5.6.6). Blanks are allowed
 * around the semicolon only.
 * @param value  out: with its quotes if it has them; a quoted one ends at the first quote without a backslash before it
 * @return 1; 0: nothing is left; MK_E_BAD.
 */
int mk_parameter_next(struct mk_str *rest, struct mk_str *name, struct mk_str *value);

/** A value without the quotes around it. */
struct mk_str mk_parameter_unquoted(struct mk_str value);

#endif
