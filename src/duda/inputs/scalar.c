/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs/scalar.h"

#include "kit/text/words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char mk_duda_no_memory[] = "no memory";

enum { INTEGER_DIGITS = 20 }; /* with a sign */

/* Apart, with its large frame, from what right values pass. */
MK_PRINTF(2, 3)
static __attribute__((cold, noinline)) const char *say(struct mk_duda_values *v, const char *fmt,
                                                       ...)
{
    char text[MK_DUDA_FAULT_TEXT];
    const char *copy;
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    copy = mk_duda_values_copy(v, mk_str_from(text));
    return copy ? copy : mk_duda_no_memory;
}

/* ---- texts ---- */

const char *mk_duda_count_check(const struct mk_duda_row *row, struct mk_duda_values *v,
                                size_t count, const char *unit)
{
    if ((double)count < row->min)
        return say(v, "must have at least %.0f %s", row->min, unit);
    if ((double)count > row->max)
        return say(v, "must have at most %.0f %s", row->max, unit);
    return NULL;
}

static size_t characters(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static bool is_choice(const char *choices, const char *text)
{
    struct mk_str rest = mk_str_from(choices), word;

    while ((word = text_next_word(&rest)).p) {
        if (text_is(word, mk_str_from(text)))
            return true;
    }
    return false;
}

static const char *set_text(const struct mk_duda_row *row, struct mk_duda_values *v,
                            const char *text, void *to)
{
    const char *fault;
    int unmatched;

    if (!json_is_text(text))
        return "must be UTF-8";
    fault = mk_duda_count_check(row, v, characters(text), "characters");
    if (fault)
        return fault;
    if (row->said->choices && !is_choice(row->said->choices, text))
        return say(v, "must be one of: %s", row->said->choices);
    unmatched = row->pattern ? regexec(&row->pattern->compiled, text, 0, NULL, 0) : 0;
    if (unmatched == REG_ESPACE)
        return mk_duda_no_memory;
    if (unmatched)
        return say(v, "must match the pattern %s", row->said->pattern);
    *(const char **)to = text;
    return NULL;
}

static const char *read_text(const struct mk_duda_row *row, struct mk_duda_values *v,
                             struct mk_str text, void *to)
{
    char *copy;

    if (text.len > 0 && memchr(text.p, '\0', text.len))
        return "must be a text without NUL";
    copy = mk_duda_values_copy(v, text);
    return copy ? set_text(row, v, copy, to) : mk_duda_no_memory;
}

/* ---- numbers ---- */

static __attribute__((cold, noinline)) const char *say_range(struct mk_duda_values *v, bool is_low,
                                                             double bound)
{
    char text[JSON_NUMBER_ROOM];

    json_print_number(text, bound);
    return say(v, is_low ? "must be at least %s" : "must be at most %s", text);
}

static const char *check_range(const struct mk_duda_row *row, struct mk_duda_values *v, double n)
{
    if (n < row->min)
        return say_range(v, true, row->min);
    return n > row->max ? say_range(v, false, row->max) : NULL;
}

static const char not_an_integer[] = "must be a whole number of 64 bits";

static const char *set_integer(const struct mk_duda_row *row, struct mk_duda_values *v, int64_t n,
                               void *to)
{
    const char *fault = check_range(row, v, (double)n);

    if (!fault)
        *(int64_t *)to = n;
    return fault;
}

static const char *read_integer(const struct mk_duda_row *row, struct mk_duda_values *v,
                                struct mk_str text, void *to)
{
    const bool is_negative = text.len > 0 && text.p[0] == '-';
    uint64_t n = 0;

    if (text.len == is_negative || text.len > INTEGER_DIGITS)
        return not_an_integer;
    for (size_t i = is_negative; i < text.len; i++) {
        const unsigned digit = (unsigned char)(text.p[i] - '0');

        if (digit > 9 || n > INT64_MAX / 10)
            return not_an_integer;
        n = n * 10 + digit;
    }
    if (n > (uint64_t)INT64_MAX + is_negative)
        return not_an_integer;
    return set_integer(row, v, (int64_t)(is_negative ? -n : n), to);
}

static const char not_a_number[] = "must be a number";

static const char *set_number(const struct mk_duda_row *row, struct mk_duda_values *v, double n,
                              void *to)
{
    const char *fault = isfinite(n) ? check_range(row, v, n) : not_a_number;

    if (!fault)
        *(double *)to = n;
    return fault;
}

static const char *read_number(const struct mk_duda_row *row, struct mk_duda_values *v,
                               struct mk_str text, void *to)
{
    double n = 0;
    const char *end = text.len > 0 ? json_read_number(text.p, text.p + text.len, &n) : NULL;

    if (text.len > 0 && !end && !isnan(n) && !isinf(n))
        return mk_duda_no_memory;
    return end && end == text.p + text.len ? set_number(row, v, n, to) : not_a_number;
}

/* ---- flags ---- */

static const char not_a_flag[] = "must be true or false";

static const char *read_flag(struct mk_str text, void *to)
{
    static const struct {
        struct mk_str word;
        int value;
    } words[] = {{MK_STR_INIT("true"), 1}, {MK_STR_INIT("false"), 0}, {MK_STR_INIT("1"), 1},
                 {MK_STR_INIT("0"), 0},    {MK_STR_INIT("on"), 1},    {MK_STR_INIT("off"), 0}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (text_is(text, words[i].word)) {
            *(int *)to = words[i].value;
            return NULL;
        }
    }
    return not_a_flag;
}

/* ---- all types ---- */

const char *mk_duda_scalar_read(const struct mk_duda_row *row, struct mk_duda_values *v,
                                struct mk_str text, void *to)
{
    switch (row->said->type) {
    case DUDA_TEXT:
        return read_text(row, v, text, to);
    case DUDA_INTEGER:
        return read_integer(row, v, text, to);
    case DUDA_NUMBER:
        return read_number(row, v, text, to);
    default:
        return read_flag(text, to);
    }
}

const char *mk_duda_scalar_take(const struct mk_duda_row *row, struct mk_duda_values *v,
                                const json_t *item, void *to)
{
    int64_t n;

    switch (row->said->type) {
    case DUDA_TEXT:
        return item->type == cJSON_String ? set_text(row, v, item->valuestring, to)
                                          : "must be a text";
    case DUDA_INTEGER:
        return json_int64(item, &n) == 0 ? set_integer(row, v, n, to) : not_an_integer;
    case DUDA_NUMBER:
        return item->type == cJSON_Number ? set_number(row, v, item->valuedouble, to)
                                          : not_a_number;
    default:
        if (item->type != cJSON_True && item->type != cJSON_False)
            return not_a_flag;
        *(int *)to = item->type == cJSON_True;
        return NULL;
    }
}
