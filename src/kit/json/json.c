/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/json/json.h"

#include "kit/pure/hex.h"

#include <stdint.h>
#include <string.h>

enum { FIRST_SURROGATE = 0xd800, LOW_SURROGATE = 0xdc00, LAST_SURROGATE = 0xdfff };

/* What is left of the text. */
struct reader {
    const char *p, *end;
    unsigned depth;
};

static void skip_space(struct reader *r)
{
    while (r->p < r->end && memchr(" \t\r\n", *r->p, 4))
        r->p++;
}

static bool take(struct reader *r, char c)
{
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static bool is_digit(const struct reader *r)
{
    return r->p < r->end && *r->p >= '0' && *r->p <= '9';
}

/* ---- strings ---- */

/* The four digits after "\u". @return -1: they are not there */
static int32_t take_unit(struct reader *r)
{
    int32_t unit = 0;

    if (r->end - r->p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_value(*r->p++);

        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

static bool is_surrogate(int32_t unit)
{
    return unit >= FIRST_SURROGATE && unit <= LAST_SURROGATE;
}

/* A character above U+FFFF is two units; half of one is no character. @return -1 */
static int32_t take_character(struct reader *r)
{
    int32_t high = take_unit(r), low;

    if (high < 0 || !is_surrogate(high))
        return high;
    if (high >= LOW_SURROGATE || !take(r, '\\') || !take(r, 'u'))
        return -1;
    low = take_unit(r);
    if (low < LOW_SURROGATE || low > LAST_SURROGATE)
        return -1;
    return 0x10000 + ((high - FIRST_SURROGATE) << 10) + (low - LOW_SURROGATE);
}

static bool check_escape(struct reader *r)
{
    if (r->p == r->end)
        return false;
    if (take(r, 'u'))
        return take_character(r) >= 0;
    return memchr("\"\\/bfnrt", *r->p++, 8) != NULL;
}

/* RFC 3629 section 4: no overlong form, no surrogate, nothing above U+10FFFF. */
static bool check_utf8(struct reader *r)
{
    const uint8_t *p = (const uint8_t *)r->p;
    size_t more = p[0] >= 0xf0 ? 3 : p[0] >= 0xe0 ? 2 : 1;
    uint8_t least = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    uint8_t most = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;

    if (p[0] < 0xc2 || p[0] > 0xf4 || (size_t)(r->end - r->p) <= more)
        return false;
    if (p[1] < least || p[1] > most)
        return false;
    for (size_t i = 2; i <= more; i++) {
        if (p[i] < 0x80 || p[i] > 0xbf)
            return false;
    }
    r->p += more + 1;
    return true;
}

static bool check_string(struct reader *r)
{
    if (!take(r, '"'))
        return false;
    while (r->p < r->end && *r->p != '"') {
        unsigned char c = (unsigned char)*r->p;

        if (c < ' ')
            return false;
        if (c >= 0x80) {
            if (!check_utf8(r))
                return false;
            continue;
        }
        r->p++;
        if (c == '\\' && !check_escape(r))
            return false;
    }
    return take(r, '"');
}

/* ---- numbers and words ---- */

static bool check_digits(struct reader *r)
{
    if (!is_digit(r))
        return false;
    while (is_digit(r))
        r->p++;
    return true;
}

static bool check_number(struct reader *r)
{
    (void)take(r, '-');
    if (!take(r, '0') && !check_digits(r))
        return false;
    if (take(r, '.') && !check_digits(r))
        return false;
    if (take(r, 'e') || take(r, 'E')) {
        if (!take(r, '+'))
            (void)take(r, '-');
        return check_digits(r);
    }
    return true;
}

static bool check_word(struct reader *r, const char *word)
{
    size_t len = strlen(word);

    if ((size_t)(r->end - r->p) < len || memcmp(r->p, word, len) != 0)
        return false;
    r->p += len;
    return true;
}

/* ---- arrays and objects ---- */

static bool check_value(struct reader *r);

static bool check_array(struct reader *r)
{
    r->p++;
    skip_space(r);
    if (take(r, ']'))
        return true;
    do {
        if (!check_value(r))
            return false;
    } while (take(r, ','));
    return take(r, ']');
}

static struct mk_str take_name(struct reader *r)
{
    const char *begin;

    skip_space(r);
    begin = r->p;
    if (!check_string(r))
        return (struct mk_str){NULL, 0};
    return (struct mk_str){begin + 1, (size_t)(r->p - begin) - 2};
}

static bool is_among(const struct mk_str *names, size_t count, struct mk_str name)
{
    for (size_t i = 0; i < count; i++) {
        if (names[i].len == name.len && memcmp(names[i].p, name.p, name.len) == 0)
            return true;
    }
    return false;
}

/* RFC 8259 section 4 leaves open which of two members of a name counts, so readers differ: such an object is refused. */
static bool check_members(struct reader *r)
{
    struct mk_str names[JSON_MEMBERS_MAX];
    size_t count = 0;

    do {
        struct mk_str name = take_name(r);

        if (!name.p || count == JSON_MEMBERS_MAX || is_among(names, count, name))
            return false;
        names[count++] = name;
        skip_space(r);
        if (!take(r, ':') || !check_value(r))
            return false;
    } while (take(r, ','));
    return take(r, '}');
}

static bool check_object(struct reader *r)
{
    r->p++;
    skip_space(r);
    return take(r, '}') || check_members(r);
}

/* NOLINTNEXTLINE(misc-no-recursion): JSON_DEPTH_MAX deep at most */
static bool check_nested(struct reader *r)
{
    bool is_right;

    if (++r->depth > JSON_DEPTH_MAX)
        return false;
    is_right = *r->p == '[' ? check_array(r) : check_object(r);
    r->depth--;
    return is_right;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool check_value(struct reader *r)
{
    bool is_right = false;

    skip_space(r);
    if (r->p == r->end)
        return false;
    switch (*r->p) {
    case '{':
    case '[':
        is_right = check_nested(r);
        break;
    case '"':
        is_right = check_string(r);
        break;
    case 't':
        is_right = check_word(r, "true");
        break;
    case 'f':
        is_right = check_word(r, "false");
        break;
    case 'n':
        is_right = check_word(r, "null");
        break;
    default:
        is_right = check_number(r);
    }
    skip_space(r);
    return is_right;
}

/* ---- walking what was checked ---- */

static const char *end_of_string(const char *p)
{
    for (p++; *p != '"'; p++)
        p += *p == '\\';
    return p + 1;
}

static const char *end_of_value(const char *p, const char *end)
{
    size_t depth = 0;

    while (p < end && (depth > 0 || !memchr(",]} \t\r\n", *p, 7))) {
        if (*p == '"') {
            p = end_of_string(p);
            continue;
        }
        if (*p == '[' || *p == '{')
            depth++;
        else if (*p == ']' || *p == '}')
            depth--;
        p++;
    }
    return p;
}

static struct json value_of(const char *p, const char *end)
{
    static const struct {
        char first;
        enum json_kind kind;
        bool is_between; /* two characters that are not part of the text */
    } kinds[] = {
        {'n', JSON_NULL, false},  {'t', JSON_TRUE, false}, {'f', JSON_FALSE, false},
        {'"', JSON_STRING, true}, {'[', JSON_ARRAY, true}, {'{', JSON_OBJECT, true},
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t cut = kinds[i].is_between;

        if (*p == kinds[i].first)
            return (struct json){kinds[i].kind, {p + cut, (size_t)(end - p) - 2 * cut}};
    }
    return (struct json){JSON_NUMBER, {p, (size_t)(end - p)}};
}

/* Spaces, and the characters that stand between members and items. */
static void skip_between(struct mk_str *rest)
{
    while (rest->len > 0 && memchr(",: \t\r\n", *rest->p, 6)) {
        rest->p++;
        rest->len--;
    }
}

struct json json_next(struct mk_str *rest)
{
    struct json value;
    const char *end;

    skip_between(rest);
    if (rest->len == 0)
        return (struct json){JSON_NONE, {NULL, 0}};
    end = *rest->p == '"' ? end_of_string(rest->p) : end_of_value(rest->p, rest->p + rest->len);
    value = value_of(rest->p, end);
    rest->len -= (size_t)(end - rest->p);
    rest->p = end;
    return value;
}

struct json json_member(struct json object, const char *name)
{
    struct mk_str rest = object.text;
    size_t len = strlen(name);
    struct json key;

    if (object.kind != JSON_OBJECT)
        return (struct json){JSON_NONE, {NULL, 0}};
    while ((key = json_next(&rest)).kind != JSON_NONE) {
        struct json value = json_next(&rest);

        if (key.text.len == len && memcmp(key.text.p, name, len) == 0)
            return value;
    }
    return (struct json){JSON_NONE, {NULL, 0}};
}

struct json json_parse(struct mk_str text)
{
    struct reader r = {text.p, text.p + text.len, 0};

    if (text.len == 0 || !check_value(&r) || r.p != r.end)
        return (struct json){JSON_NONE, {NULL, 0}};
    return json_next(&text);
}

static size_t put_utf8(char *dst, int32_t c)
{
    if (c < 0x80) {
        dst[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        dst[0] = (char)(0xc0 | (c >> 6));
        dst[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        dst[0] = (char)(0xe0 | (c >> 12));
        dst[1] = (char)(0x80 | ((c >> 6) & 0x3f));
        dst[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    dst[0] = (char)(0xf0 | (c >> 18));
    dst[1] = (char)(0x80 | ((c >> 12) & 0x3f));
    dst[2] = (char)(0x80 | ((c >> 6) & 0x3f));
    dst[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

static int32_t take_escape(struct reader *r)
{
    static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
    const char *at;
    char c = *r->p++;

    if (c == 'u')
        return take_character(r);
    at = strchr(letters, c);
    return at ? meant[at - letters] : c;
}

struct mk_str json_string(struct json string, char *dst)
{
    struct reader r = {string.text.p, string.text.p + string.text.len, 0};
    size_t len = 0;

    if (string.kind != JSON_STRING)
        return (struct mk_str){NULL, 0};
    while (r.p < r.end) {
        int32_t c;

        if (*r.p != '\\') {
            dst[len++] = *r.p++;
            continue;
        }
        r.p++;
        c = take_escape(&r);
        if (c == 0)
            return (struct mk_str){NULL, 0};
        len += put_utf8(dst + len, c);
    }
    return (struct mk_str){dst, len};
}

bool json_count(struct json number, int64_t *count)
{
    static const int64_t most = INT64_C(1) << 53;
    size_t i = 0;

    *count = 0;
    if (number.kind != JSON_NUMBER || memchr(number.text.p, '-', number.text.len) ||
        memchr(number.text.p, 'e', number.text.len) || memchr(number.text.p, 'E', number.text.len))
        return false;
    for (; i < number.text.len && number.text.p[i] != '.'; i++) {
        *count = *count * 10 + (number.text.p[i] - '0');
        if (*count > most)
            return false;
    }
    return true;
}
