/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_SECRET_H
#define MONKEY_WEB_SECRET_H

/* Comparison of what clients send with what they must not find out: API keys, tokens, codes of signatures. */

#include <monkey/types.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Compare a text with a secret, in constant time: it takes as long for a text that differs in its first byte as for one that differs in
 * its last one, so nobody finds a secret byte by byte. Only the lengths can be measured. For passwords it is not enough: store a hash of
 * crypt(3), not the password.
 * @return whether they are the same bytes; false where a p is NULL. Any thread.
 */
MK_API bool mk_secret_eq(struct mk_str secret, struct mk_str text) MK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
