/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pattern.h"

#include "kit/text/words.h"

#include <limits.h>
#include <string.h>

static const struct mk_str type_names[MK_DUDA_TYPE_COUNT] = {
#define MK_DUDA_TYPE_NAME(name, text, meaning) MK_STR_INIT(text),
    MK_DUDA_TYPES(MK_DUDA_TYPE_NAME)
#undef MK_DUDA_TYPE_NAME
};

/* ---- patterns ---- */

static enum mk_duda_type type_named(struct mk_str name)
{
    unsigned type = 0;

    while (type < MK_DUDA_TYPE_COUNT && !text_is(type_names[type], name))
        type++;
    return (enum mk_duda_type)type;
}

/* @param segment  ":id<int>"; in: from the colon on, out: ":id" */
static const char *read_type(struct mk_duda_pattern *p, struct mk_str *segment)
{
    const char *open = memchr(segment->p, '<', segment->len);
    struct mk_duda_typed *typed = &p->typed[p->ntyped];
    struct mk_str name;

    if (!open)
        return NULL;
    if (segment->p[segment->len - 1] != '>')
        return "a type stands at the end of its segment, as in :id<int>";
    if (p->ntyped == MK_ROUTE_VALUES)
        return "too many variables";
    name = (struct mk_str){open + 1, (size_t)(segment->p + segment->len - open - 2)};
    typed->type = type_named(name);
    if (typed->type == MK_DUDA_TYPE_COUNT)
        return "types are int, uint, hex, word and uuid";
    segment->len = (size_t)(open - segment->p);
    typed->name = (struct mk_str){segment->p + 1, segment->len - 1};
    p->ntyped++;
    return NULL;
}

const char *mk_duda_pattern_read(struct mk_duda_pattern *p, struct mk_str text)
{
    const char *why = NULL;
    size_t len = 0;

    p->ntyped = 0;
    if (text.len > MK_ROUTE_PATTERN)
        return "it is too long";
    while (text.len > 0 && !why) {
        const char *slash = memchr(text.p, '/', text.len);
        struct mk_str segment = {text.p, slash ? (size_t)(slash - text.p) : text.len};
        size_t taken = segment.len + (slash != NULL);

        if (segment.len > 0 && segment.p[0] == ':')
            why = read_type(p, &segment);
        memcpy(p->plain + len, segment.p, segment.len);
        len += segment.len;
        if (slash)
            p->plain[len++] = '/';
        text = (struct mk_str){text.p + taken, text.len - taken};
    }
    p->plain[len] = '\0';
    return why;
}

/* ---- values ---- */

/* Downwards from 0, where there is one number more. */
bool mk_duda_number_read(struct mk_str text, long *number)
{
    bool is_negative = text.len > 0 && text.p[0] == '-';
    size_t i = is_negative || (text.len > 0 && text.p[0] == '+');
    long n = 0;

    if (i == text.len)
        return false;
    for (; i < text.len; i++) {
        if (text.p[i] < '0' || text.p[i] > '9' || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_sub_overflow(n, text.p[i] - '0', &n))
            return false;
    }
    if (!is_negative && n == LONG_MIN)
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
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (is_dash ? value.p[i] != '-' : !is_hex(value.p[i]))
            return false;
    }
    return value.len == 36;
}

bool mk_duda_type_fits(enum mk_duda_type type, struct mk_str value)
{
    long number;

    switch (type) {
    case MK_DUDA_TYPE_INT:
        return mk_duda_number_read(value, &number);
    case MK_DUDA_TYPE_UINT:
        return mk_duda_number_read(value, &number) && value.p[0] != '-';
    case MK_DUDA_TYPE_HEX:
        return is_all(value, is_hex);
    case MK_DUDA_TYPE_WORD:
        return is_all(value, is_word);
    case MK_DUDA_TYPE_UUID:
        return is_uuid(value);
    case MK_DUDA_TYPE_COUNT:
        break;
    }
    return false;
}
