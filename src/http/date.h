/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_DATE_H
#define MK_HTTP_DATE_H

#include <monkey/types.h>

/* HTTP-date, RFC 9110 section 5.6.7. Seconds since the epoch, UTC, 64 bits everywhere. */

enum { MK_DATE_LEN = 29 }; /* "Sun, 06 Nov 1994 08:49:37 GMT" */

/**
 * Write t as an IMF-fixdate, without terminator.
 * A time before year 0 or after 9999 is clamped to that range's end.
 */
void mk_date_format(char dst[MK_DATE_LEN], int64_t t);

/**
 * Read any of the three forms (IMF-fixdate, rfc850, asctime).
 * @param now  the present: a two-digit year more than 50 years ahead of it means the past century
 * @return 0; MK_E_BAD when s is no date (a wrong day name of a right date is accepted).
 */
int mk_date_parse(struct mk_str s, int64_t now, int64_t *t) MK_MUST_USE;

#endif
