/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_COOKIE_H
#define KIT_COOKIE_H

#include <monkey/request.h>

/**
 * The value of a request's first cookie of this name, in this case (RFC 6265 section 4.2.1), over all Cookie lines: HTTP/2 has
 * several (RFC 9113 section 8.2.3).
 * @return it, borrowed from the request; {NULL, 0}: there is none.
 */
struct mk_str cookie_find(const struct mk_request *r, struct mk_str name);

#endif
