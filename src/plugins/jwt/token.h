/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JWT_TOKEN_H
#define JWT_TOKEN_H

#include "algorithm.h"

#include <monkey/web/json_read.h>

/* A token in the compact form of a signature (RFC 7515 section 7.1): HEADER.CLAIMS.SIGNATURE, each in base64url. Pure. */

enum { TOKEN_MAX = 4096, TOKEN_ROOM = 2 * TOKEN_MAX };

struct token {
    enum algorithm algorithm;
    struct mk_str id;                   /* kid; p NULL: none */
    struct mk_str signed_text;          /* of the token itself */
    struct mk_str signature;            /* bytes */
    const struct mk_json_value *claims; /* an object; owned */
};

/**
 * Take a token apart. Nothing in it can be believed yet.
 * @param room  TOKEN_ROOM bytes, to which t refers
 * @return 0: jwt_token_fini is to follow; MK_E_BAD: it is malformed, too long, of another algorithm, or has critical extensions
 *         (RFC 7515 section 4.1.11); MK_E_NOMEM
 */
int jwt_token_read(struct mk_str text, char *room, struct token *t) MK_MUST_USE;
void jwt_token_fini(struct token *t);

#endif
