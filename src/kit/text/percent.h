/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TEXT_PERCENT_H
#define KIT_TEXT_PERCENT_H

#include <monkey/types.h>

/* Decoded text within a URL: RFC 3986 section 2.1. */

enum { TEXT_PERCENT_GROWTH = 3 };

/** Besides the unreserved characters, those that may stand in a path: RFC 3986 section 3.3. */
#define TEXT_PERCENT_PATH "/:@!$&'()*+,;="

/**
 * Percent-encode each byte that is neither unreserved (section 2.3) nor one of `kept`.
 * @param dst   room for len * TEXT_PERCENT_GROWTH
 * @param kept  "" for a value of a query or one segment of a path, TEXT_PERCENT_PATH for a path
 * @return bytes written.
 */
size_t text_percent(char *dst, struct mk_str s, const char *kept);

/** @return the value of a hexadecimal digit in any case; -1: it is none. */
int text_hex_digit(char c);

#endif
