/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_FIELD_H
#define MONKEY_FIELD_H

/* Header fields with rules of their own, by name, and lists of tokens. Pure functions. Any thread. */

#include <monkey/types.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bits: rules for a field because of its name. Most fields have none. */
enum mk_field_rules {
    /** Describes the framing of a message or the connection: only the sending server writes it (RFC 9112 sections 6, 9). */
    MK_RULE_MESSAGE = 1 << 0,
    /** Applies to one hop: an intermediary does not pass it on (RFC 9110 section 7.6.1). */
    MK_RULE_HOP = 1 << 1,
    /** Is needed before the body and so is not allowed in a trailer section (RFC 9110 section 6.5.1). */
    MK_RULE_NO_TRAILER = 1 << 2,
    /** Depends on the moment or on the request: a configuration cannot set it to fixed text. */
    MK_RULE_NOT_FIXED = 1 << 3,
};

/**
 * Look up the rules of a field. Names are case-insensitive, and `_` counts as `-`, because applications read both as one.
 * @return bits of enum mk_field_rules; 0: none.
 */
MK_API unsigned mk_field_rules(struct mk_str name);

/**
 * Cut the next non-empty member off a comma-separated list (RFC 9110 section 5.6.1). Quoted commas are not
 * recognised.
 * @param rest    in: the rest of the list; out: the rest after the member and its comma
 * @param member  out: the member without surrounding blanks, borrowed from rest
 * @return false: no member is left.
 */
MK_API bool mk_list_next(struct mk_str *rest, struct mk_str *member);

/** @return whether the token, in any case, is a member of the list. */
MK_API bool mk_list_has_token(struct mk_str list, struct mk_str token);

#ifdef __cplusplus
}
#endif

#endif
