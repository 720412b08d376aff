/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_PURE_PERCENT_H
#define KIT_PURE_PERCENT_H

#include "kit/pure/hex.h"

#include <monkey/types.h>

/* Decoded text within a URL: RFC 3986 section 2.1. */

enum { PERCENT_GROWTH = 3 };

/** Besides the unreserved characters, those that may stand in a path: RFC 3986 section 3.3. */
#define PERCENT_PATH "/:@!$&'()*+,;="

/** One byte, encoded. @return PERCENT_GROWTH */
static inline size_t percent_byte(char dst[PERCENT_GROWTH], unsigned char c)
{
    dst[0] = '%';
    dst[1] = hex_upper(c >> 4U);
    dst[2] = hex_upper(c);
    return PERCENT_GROWTH;
}

/**
 * Percent-encode each byte that is neither unreserved (section 2.3) nor one of `kept`.
 * @param dst   room for len * PERCENT_GROWTH
 * @param kept  "" for a value of a query or one segment of a path, PERCENT_PATH for a path
 * @return bytes written.
 */
size_t percent_encode(char *dst, struct mk_str s, const char *kept);

#endif
