/* SPDX-License-Identifier: Apache-2.0 */
#include "claims.h"

#include "kit/text/words.h"

/* Sections 4.1.4 and 4.1.5: before the one, not before the other. */
static bool is_in_time(struct json claims, const struct demands *d, int64_t now_s)
{
    struct json ends = json_member(claims, "exp"), begins = json_member(claims, "nbf");
    int64_t leeway_s = d->leeway_ms / 1000, at;

    if (ends.kind == JSON_NONE ? !d->may_last : !json_count(ends, &at) || now_s >= at + leeway_s)
        return false;
    return begins.kind == JSON_NONE || (json_count(begins, &at) && now_s >= at - leeway_s);
}

static bool is_text(struct json value, struct mk_str wanted)
{
    return value.kind == JSON_STRING && text_is(value.text, wanted);
}

/* Is a value this text, or a list with it? */
static bool has(struct json value, struct mk_str wanted)
{
    struct mk_str rest = value.text;
    struct json item;

    if (value.kind != JSON_ARRAY)
        return is_text(value, wanted);
    while ((item = json_next(&rest)).kind != JSON_NONE) {
        if (is_text(item, wanted))
            return true;
    }
    return false;
}

/* Section 4.1.3: a token for somebody else is none. */
static bool is_for_us(struct json claims, const struct mk_words *audience)
{
    struct json value = json_member(claims, "aud");

    for (size_t i = 0; i < audience->count; i++) {
        if (has(value, audience->items[i]))
            return true;
    }
    return audience->count == 0;
}

/* A text may be a list of words with blanks between them, as scope is (RFC 8693 section 4.2). */
static bool is_met(struct json claims, const struct demand *demand)
{
    struct json value = json_member(claims, demand->name);
    struct mk_str rest = value.text, word;

    if (has(value, demand->value))
        return true;
    if (value.kind == JSON_TRUE || value.kind == JSON_FALSE || value.kind == JSON_NUMBER)
        return text_is(value.text, demand->value);
    while (value.kind == JSON_STRING && (word = text_next_word(&rest)).p) {
        if (text_is(word, demand->value))
            return true;
    }
    return false;
}

enum claims_verdict jwt_claims_judge(struct json claims, const struct demands *demands,
                                     int64_t now_s)
{
    if (!is_in_time(claims, demands, now_s) || !is_for_us(claims, &demands->audience))
        return CLAIMS_INVALID;
    if (demands->issuer && !is_text(json_member(claims, "iss"), mk_str_from(demands->issuer)))
        return CLAIMS_INVALID;
    for (const struct demand *d = demands->first; d; d = d->next) {
        if (!is_met(claims, d))
            return CLAIMS_LACKING;
    }
    return CLAIMS_RIGHT;
}
