/* SPDX-License-Identifier: Apache-2.0 */
#include "claims.h"

#include "kit/text/words.h"

/* RFC 7519 section 2: seconds since 1970, perhaps with a fraction, which is cut. @return false: none from 0 to 2^53 */
static bool read_date(const struct mk_json_value *value, int64_t *at_s)
{
    double number;

    if (mk_json_double(value, &number) < 0 || number < 0 || number > 0x1p53)
        return false;
    *at_s = (int64_t)number;
    return true;
}

/* Sections 4.1.4 and 4.1.5: before the one, not before the other. */
static bool is_in_time(const struct mk_json_value *claims, const struct demands *d, int64_t now_s)
{
    const struct mk_json_value *ends = mk_json_member(claims, MK_STR("exp")),
                               *begins = mk_json_member(claims, MK_STR("nbf"));
    int64_t leeway_s = d->leeway_ms / 1000, at;

    if (!ends ? !d->may_last : !read_date(ends, &at) || now_s >= at + leeway_s)
        return false;
    return !begins || (read_date(begins, &at) && now_s >= at - leeway_s);
}

static bool is_text(const struct mk_json_value *value, struct mk_str wanted)
{
    return value && value->kind == MK_JSON_STRING && text_is(value->text, wanted);
}

/* Is a value this text, or a list with it? */
static bool has(const struct mk_json_value *value, struct mk_str wanted)
{
    if (!value || value->kind != MK_JSON_ARRAY)
        return is_text(value, wanted);
    for (const struct mk_json_value *item = value->first; item; item = item->next) {
        if (is_text(item, wanted))
            return true;
    }
    return false;
}

/* Section 4.1.3: a token for somebody else is none. */
static bool is_for_us(const struct mk_json_value *claims, const struct mk_words *audience)
{
    const struct mk_json_value *value = mk_json_member(claims, MK_STR("aud"));

    for (size_t i = 0; i < audience->count; i++) {
        if (has(value, audience->items[i]))
            return true;
    }
    return audience->count == 0;
}

/* A text may be a list of words with blanks between them, as scope is (RFC 8693 section 4.2). */
static bool has_word(struct mk_str text, struct mk_str wanted)
{
    struct mk_str word;

    while ((word = text_next_word(&text)).p) {
        if (text_is(word, wanted))
            return true;
    }
    return false;
}

static bool is_met(const struct mk_json_value *claims, const struct demand *demand)
{
    const struct mk_json_value *value = mk_json_member(claims, mk_str_from(demand->name));

    if (!value)
        return false;
    switch (value->kind) {
    case MK_JSON_TRUE:
        return text_is(demand->value, MK_STR("true"));
    case MK_JSON_FALSE:
        return text_is(demand->value, MK_STR("false"));
    case MK_JSON_NUMBER:
        return text_is(value->text, demand->value);
    case MK_JSON_STRING:
        return text_is(value->text, demand->value) || has_word(value->text, demand->value);
    default:
        return has(value, demand->value);
    }
}

enum claims_verdict jwt_claims_judge(const struct mk_json_value *claims,
                                     const struct demands *demands, int64_t now_s)
{
    if (!is_in_time(claims, demands, now_s) || !is_for_us(claims, &demands->audience))
        return CLAIMS_INVALID;
    if (demands->issuer &&
        !is_text(mk_json_member(claims, MK_STR("iss")), mk_str_from(demands->issuer)))
        return CLAIMS_INVALID;
    for (const struct demand *d = demands->first; d; d = d->next) {
        if (!is_met(claims, d))
            return CLAIMS_LACKING;
    }
    return CLAIMS_RIGHT;
}
