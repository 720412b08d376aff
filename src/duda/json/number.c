/* SPDX-License-Identifier: Apache-2.0 */
#include "json/tree.h"
#include "kit/json/write.h"

#include <math.h>

/* Integers of 64 bits, which keep their digits; so does what only looks like one as a double. */

static const double exact = 9007199254740992.0; /* 2^53: below it a double has each integer */

enum { EXACT_LEN = 15 }; /* digits that always come through a double */

static bool is_whole(double number)
{
    return fabs(number) >= exact || (double)(int64_t)number == number;
}

/* @return 0: it is an integer of 64 bits; MK_E_BAD, MK_E_LIMIT */
static int check_integer(const struct json_number *n)
{
    return n->is_negative ? json_number_int64(n, &(int64_t){0})
                          : json_number_integer(n, &(uint64_t){0});
}

bool json_needs_digits(double number, const struct json_number *digits)
{
    const bool is_large = fabs(number) >= exact;
    const bool is_short = digits->end - digits->begin <= EXACT_LEN;

    if (is_short && !is_large && (number != 0 || digits->value == 0)) /* as most are */
        return false;
    if (!is_whole(number))
        return false;
    return check_integer(digits) == 0 ? is_large : fabs(number) < 0x1p64;
}

/* A service may have set valuedouble since. @return false: valuedouble says all */
static bool scan_digits(const json_t *number, struct json_number *n)
{
    const char *text = number->valuestring;
    double value;

    return text && json_scan_number(n, text, text + strlen(text)) && *n->end == '\0' &&
           json_number_double(n, &value) && value == number->valuedouble;
}

const char *json_digits(const json_t *number)
{
    struct json_number n;

    return scan_digits(number, &n) && !strpbrk(n.begin, ".eE") && check_integer(&n) == 0 ? n.begin
                                                                                         : NULL;
}

static json_t *new_integer(double value, const char *digits)
{
    json_t *item = json_new_number(value);

    if (!item || fabs(value) < exact)
        return item;
    item->valuestring = json_copy_text(digits);
    if (item->valuestring)
        return item;
    json_delete(item);
    return NULL;
}

json_t *json_new_int64(int64_t value)
{
    char digits[24];

    *json_put_int64(digits, value) = '\0';
    return new_integer((double)value, digits);
}

json_t *json_new_uint64(uint64_t value)
{
    char digits[24];

    *json_put_digits(digits, value) = '\0';
    return new_integer((double)value, digits);
}

/* Its magnitude, exactly. @return false: it is no integer, or beyond 64 bits */
static bool read_integer(const json_t *item, uint64_t *magnitude, bool *is_negative)
{
    struct json_number n;
    double value;

    if (!item || (item->type & JSON_TYPE) != cJSON_Number || !isfinite(item->valuedouble))
        return false;
    *is_negative = item->valuedouble < 0;
    if (scan_digits(item, &n))
        return json_number_integer(&n, magnitude) == 0;
    value = fabs(item->valuedouble);
    if (value >= 0x1p64 || !is_whole(value))
        return false;
    *magnitude = (uint64_t)value;
    return true;
}

int json_int64(const json_t *item, int64_t *value)
{
    uint64_t magnitude;
    bool is_negative;

    if (!value || !read_integer(item, &magnitude, &is_negative) ||
        magnitude > (uint64_t)INT64_MAX + is_negative)
        return -1;
    *value = (int64_t)(is_negative ? 0 - magnitude : magnitude);
    return 0;
}

int json_uint64(const json_t *item, uint64_t *value)
{
    uint64_t magnitude;
    bool is_negative;

    if (!value || !read_integer(item, &magnitude, &is_negative) || is_negative)
        return -1;
    *value = magnitude;
    return 0;
}
