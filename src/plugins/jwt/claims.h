/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JWT_CLAIMS_H
#define JWT_CLAIMS_H

#include <monkey/settings.h>
#include <monkey/web/json_read.h>

#include <stdbool.h>
#include <string.h>

/* What a place demands of the claims of a token (RFC 7519 section 4.1) whose signature is right. Pure. */

/** A claim that must have a value, or a list that must have it. */
struct demand {
    struct demand *next;
    const char *name;
    struct mk_str value;
};

struct demands {
    const char *issuer;       /* NULL: any */
    struct mk_words audience; /* one of them; none: any */
    int64_t leeway_ms;        /* by which clocks may differ */
    bool may_last;            /* a token without exp is valid */
    struct demand *first;     /* further ones */
};

enum claims_verdict {
    CLAIMS_RIGHT,
    CLAIMS_INVALID, /* expired, not valid yet, of another issuer or for another audience */
    CLAIMS_LACKING, /* valid, but a demand is not met */
};

/** @param now_s  seconds since 1970 */
enum claims_verdict jwt_claims_judge(const struct mk_json_value *claims,
                                     const struct demands *demands, int64_t now_s);

/** @return whether a value is a string without U+0000, which would end it for others. */
static inline bool jwt_text_is_plain(const struct mk_json_value *value)
{
    return value->kind == MK_JSON_STRING &&
           (value->text.len == 0 || !memchr(value->text.p, '\0', value->text.len));
}

#endif
