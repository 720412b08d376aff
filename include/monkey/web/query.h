/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_QUERY_H
#define MONKEY_WEB_QUERY_H

/*
 * Values of a query, "a=1&b=x%20y", and of any other text of the type application/x-www-form-urlencoded (WHATWG URL,
 * section 5.1): `+` is a blank. An escape that is not two hexadecimal digits is malformed, and so is a NUL in either form.
 */

#include <monkey/request.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Cut the next pair off, not decoded. Empty ones are skipped.
 * @param rest   in: the text, or the rest of it; out: what follows
 * @param value  out: p NULL without `=`
 * @return false: there is none. Any thread.
 */
MK_API bool mk_pair_next(struct mk_str *rest, struct mk_str *name, struct mk_str *value);

/**
 * Decode a name or a value.
 * @param dst  room for text.len bytes; may be text.p itself
 * @return bytes written, or MK_E_BAD. Any thread.
 */
MK_API ssize_t mk_pair_decode(char *dst, struct mk_str text) MK_MUST_USE;

/**
 * The first value of a name in the query of a request.
 * @param name   decoded
 * @param value  out: decoded, terminated, valid until the request ends; empty if it has no `=`
 * @return 1; 0: the name is absent; MK_E_BAD: its value is malformed; MK_E_NOMEM.
 */
MK_API int mk_query_value(struct mk_request *r, struct mk_str name,
                          struct mk_str *value) MK_MUST_USE;

/**
 * Read a text that is a decimal number and nothing else. It may have a sign, and is within the range of int64_t.
 * @param number  out: unchanged on error
 * @return 0 or MK_E_BAD. Any thread.
 */
MK_API int mk_text_int(struct mk_str text, int64_t *number) MK_MUST_USE;

/**
 * The first value of a name in the query, as a number.
 * @param number  out: unchanged unless the result is 1, so it holds what an absent one means
 * @return 1; 0: the name is absent; MK_E_BAD: the value is malformed or no such number. Allocates nothing.
 */
MK_API int mk_query_int(struct mk_request *r, struct mk_str name, int64_t *number) MK_MUST_USE;

/**
 * Walk the pairs of the query, decoded as above.
 * @param at  0 at first
 * @return 1; 0 after the last; MK_E_BAD: this pair is malformed, the walk may go on; MK_E_NOMEM.
 */
MK_API int mk_query_next(struct mk_request *r, size_t *at, struct mk_str *name,
                         struct mk_str *value) MK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
