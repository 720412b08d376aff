/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_FIELD_H
#define MONKEY_FIELD_H

/* Header fields by name: which of them follow rules of their own, and lists of tokens. Pure. Any thread. */

#include <monkey/types.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Rules that hold for a field because of its name; most fields have none. Bits. */
enum mk_field_rules {
    /** Says how a message is framed or what a connection does: only the server that sends it writes it (RFC 9112 sections 6, 9). */
    MK_RULE_MESSAGE = 1 << 0,
    /** Is for one hop only: an intermediary does not pass it on (RFC 9110 section 7.6.1). */
    MK_RULE_HOP = 1 << 1,
    /** Must be known before the body, so a trailer section does not have it (RFC 9110 section 6.5.1). */
    MK_RULE_NO_TRAILER = 1 << 2,
    /** Depends on the moment or on the request: fixed text of a configuration cannot be right. */
    MK_RULE_NOT_FIXED = 1 << 3,
};

/** The rules of a field. Its name may be in any case, and `_` counts as `-`, since applications read both as one. @return bits of enum mk_field_rules; 0: none. */
MK_API unsigned mk_field_rules(struct mk_str name);

/**
 * Cut the next non-empty member off a comma-separated list: RFC 9110 section 5.6.1. Quoted commas are not
 * recognised.
 * @param rest    in: what is left of the list; out: what follows the member and its comma
 * @param member  out: without blanks around it, borrowed from rest
 * @return false when no member was left.
 */
MK_API bool mk_list_next(struct mk_str *rest, struct mk_str *member);

/** Is the token, in any case, a member of the list? */
MK_API bool mk_list_has_token(struct mk_str list, struct mk_str token);

#ifdef __cplusplus
}
#endif

#endif
