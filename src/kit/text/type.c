/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/text/type.h"

#include "kit/text/words.h"

static const struct mk_str names[TEXT_TYPE_COUNT] = {
#define TEXT_TYPE_NAME(name, text, meaning) MK_STR_INIT(text),
    TEXT_TYPES(TEXT_TYPE_NAME)
#undef TEXT_TYPE_NAME
};

enum text_type text_type_named(struct mk_str name)
{
    unsigned type = 0;

    while (type < TEXT_TYPE_COUNT && !text_is(names[type], name))
        type++;
    return (enum text_type)type;
}

/* Downwards from 0, where there is one number more. */
bool text_int(struct mk_str text, int64_t *number)
{
    const bool is_negative = text.len > 0 && text.p[0] == '-';
    size_t i = is_negative || (text.len > 0 && text.p[0] == '+');
    int64_t n = 0;

    if (i == text.len)
        return false;
    for (; i < text.len; i++) {
        if (text.p[i] < '0' || text.p[i] > '9' || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_sub_overflow(n, text.p[i] - '0', &n))
            return false;
    }
    if (!is_negative && n == INT64_MIN)
        return false;
    *number = is_negative ? n : -n;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    c = text_lower(c);
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_word(char c)
{
    return is_digit(c) || c == '_' || c == '-' || (text_lower(c) >= 'a' && text_lower(c) <= 'z');
}

static bool is_all(struct mk_str value, bool (*is_one)(char c))
{
    for (size_t i = 0; i < value.len; i++) {
        if (!is_one(value.p[i]))
            return false;
    }
    return value.len > 0;
}

static bool is_uuid(struct mk_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (is_dash ? value.p[i] != '-' : !is_hex(value.p[i]))
            return false;
    }
    return value.len == 36;
}

bool text_type_fits(enum text_type type, struct mk_str value)
{
    int64_t number;

    switch (type) {
    case TEXT_TYPE_UUID:
        return is_uuid(value);
    case TEXT_TYPE_UINT:
        return text_int(value, &number) && value.p[0] != '-';
    case TEXT_TYPE_INT:
        return text_int(value, &number);
    case TEXT_TYPE_HEX:
        return is_all(value, is_hex);
    case TEXT_TYPE_WORD:
        return is_all(value, is_word);
    case TEXT_TYPE_COUNT:
        break;
    }
    return true;
}
