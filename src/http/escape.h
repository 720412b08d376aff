/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_ESCAPE_H
#define MK_HTTP_ESCAPE_H

#include <monkey/types.h>

enum { MK_ESCAPE_URI_GROWTH = 3 };

/** Percent-encode a decoded path for a Location or an href: unreserved, sub-delims, `:`, `@` and `/` stay
 * (RFC 3986 section 3.3). dst has room for len * MK_ESCAPE_URI_GROWTH. @return bytes written. */
size_t mk_escape_path(char *dst, struct mk_str s);

/** Percent-encode for a value in a query: unreserved and `/` stay. dst has room for len * MK_ESCAPE_URI_GROWTH. @return bytes written. */
size_t mk_escape_value(char *dst, struct mk_str s);

/** Write s for a log line: printable ASCII stays, `"`, `\` and all else become \xHH. Stops before max
 * bytes would be passed, ending in "..." when clipped. @return bytes written, <= max. */
size_t mk_escape_log(char *dst, size_t max, struct mk_str s);

#endif
