/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_CHOICE_H
#define MONKEY_WEB_CHOICE_H

/*
 * What a client prefers among what a handler offers (RFC 9110 section 12.5), and dates in fields. Pure functions. Any thread.
 *
 *     static const struct mk_str offers[] = {MK_STR_INIT("application/json"), MK_STR_INIT("text/html")};
 *
 *     switch (mk_choose_type(mk_request_header(r, MK_STR("Accept")), offers, 2)) ...
 *
 * An answer that depends on a field names it in Vary. Malformed members of a list are ignored; of a list only the first 64
 * members count.
 */

#include <monkey/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Choose a media type.
 * @param accept  value of Accept; {NULL, 0}: anything is fine
 * @param offers  as sent in Content-Type, the favourite first: of equal weights the earlier one wins. A range with parameters
 *                is only for an offer with the same ones
 * @return its index; -1: none is acceptable (406, or the favourite all the same).
 */
MK_API int mk_choose_type(struct mk_str accept, const struct mk_str *offers, int noffers);

/**
 * Choose a language.
 * @param accept  value of Accept-Language; {NULL, 0}: anything is fine
 * @param offers  tags, "en", "de-CH", the favourite first. A range fits its tag and longer ones ("de" fits "de-CH"; RFC 4647 section
 *                3.3.1). Where no range fits an offer, one that is longer does ("de-CH" asks for "de" too; section 3.4)
 * @return its index; -1: none is acceptable.
 */
MK_API int mk_choose_language(struct mk_str accept, const struct mk_str *offers, int noffers);

/**
 * Choose a content coding.
 * @param accept  value of Accept-Encoding; {NULL, 0}: only "identity"
 * @param offers  "br", "gzip", "identity", the favourite first
 * @return its index; -1: none is acceptable.
 */
MK_API int mk_choose_coding(struct mk_str accept, const struct mk_str *offers, int noffers);

enum { MK_DATE_TEXT = 29 }; /* "Sun, 06 Nov 1994 08:49:37 GMT" */

/** Write a time as a date of fields (RFC 9110 section 5.6.7), without a terminator. @param t  seconds since 1970 */
MK_API void mk_date_write(char dst[MK_DATE_TEXT], int64_t t);

/**
 * Read a date in any of the three forms.
 * @param now  the present, for years of two digits
 * @return 0 or MK_E_BAD.
 */
MK_API int mk_date_read(struct mk_str text, int64_t now, int64_t *t) MK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
