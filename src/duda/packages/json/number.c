/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Numbers read and printed with a point, whatever the locale of the service: RFC 8259 section 6. */

static const char *digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

static const char *fraction(const char *p, const char *end)
{
    const char *behind;

    if (p == end || *p != '.')
        return p;
    behind = digits(p + 1, end);
    return behind > p + 1 ? behind : NULL;
}

static const char *exponent(const char *p, const char *end)
{
    const char *behind;

    if (p == end || (*p != 'e' && *p != 'E'))
        return p;
    p++;
    if (p < end && (*p == '+' || *p == '-'))
        p++;
    behind = digits(p, end);
    return behind > p ? behind : NULL;
}

/* @return behind what the grammar lets be a number; NULL: it is none */
static const char *number_end(const char *p, const char *end)
{
    const char *first = p < end && *p == '-' ? p + 1 : p;

    p = digits(first, end);
    if (p == first)
        return NULL;
    if (*first == '0')
        p = first + 1;
    p = fraction(p, end);
    return p ? exponent(p, end) : NULL;
}

/*
 * Most numbers have few digits: both the digits and the power of ten are then exact, and one operation rounds once.
 * @return whether *number is set
 */
static bool read_short(const char *p, const char *end, double *number)
{
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
    const bool is_negative = *p == '-';
    uint64_t value = 0;
    size_t count = 0, places = 0;
    bool has_point = false;

    for (p += is_negative; p < end; p++) {
        if (*p == '.') {
            has_point = true;
            continue;
        }
        if (*p == 'e' || *p == 'E' || ++count > 15)
            return false;
        value = value * 10 + (uint64_t)(*p - '0');
        places += has_point;
    }
    if (places >= sizeof(powers) / sizeof(powers[0]) || (places > 0 && FLT_EVAL_METHOD != 0))
        return false;
    *number = (double)value / powers[places];
    if (is_negative)
        *number = -*number;
    return true;
}

/* @return the power of ten in the text behind its "e"; the text need not end with a zero byte */
static long power_of(const char *p, const char *end)
{
    static const long beyond = 100000000; /* of any double, whatever digits stand before */
    const bool is_negative = *p == '-';
    long power = 0;

    for (p += *p == '-' || *p == '+'; p < end && power < beyond; p++)
        power = power * 10 + (*p - '0');
    return is_negative ? -power : power;
}

/*
 * The point of a locale may be any text, so numbers go through strtod without one: 1.25e3 as 125e1.
 * @return false: no memory
 */
static bool read_long(const char *p, const char *end, double *number)
{
    const size_t size = (size_t)(end - p) + 24;
    char room[64], *text = size > sizeof(room) ? json_memory->alloc(size) : room, *to = text;
    long power = 0, places = 0;
    bool has_point = false;

    if (!text)
        return false;
    for (; p < end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') {
            has_point = true;
            continue;
        }
        *to++ = *p;
        places += has_point;
    }
    if (p < end)
        power = power_of(p + 1, end);
    (void)snprintf(to, 24, "e%ld", power - places);
    *number = strtod(text, NULL);
    if (text != room)
        json_memory->free(text);
    return true;
}

const char *json_read_number(const char *p, const char *end, double *number)
{
    const char *behind = number_end(p, end);

    *number = behind ? 0 : (double)NAN;
    if (!behind)
        return NULL;
    if (!read_short(p, behind, number) && !read_long(p, behind, number))
        return NULL;
    return isfinite(*number) ? behind : NULL;
}

/* Set text to digits of a positive number without a point. @return the power of ten of the first one. */
static int decimal(char *text, double number, int precision)
{
    char raw[64], *to = text, *p = raw;

    snprintf(raw, sizeof(raw), "%.*e", precision - 1, number);
    for (; *p != 'e'; p++) {
        if (*p >= '0' && *p <= '9')
            *to++ = *p;
    }
    while (to > text + 1 && to[-1] == '0')
        to--;
    *to = '\0';
    return (int)strtol(p + 1, NULL, 10);
}

static void put_decimal(char *text, size_t size, const char *all, int power)
{
    int count = (int)strlen(all);

    if (power < -5 || power > 16)
        snprintf(text, size, "%.1s%s%se%d", all, count > 1 ? "." : "", all + 1, power);
    else if (power < 0)
        snprintf(text, size, "0.%.*s%s", -power - 1, "0000", all);
    else if (power >= count)
        snprintf(text, size, "%s%.*s", all, power - count + 1, "0000000000000000");
    else
        snprintf(text, size, "%.*s%s%s", power + 1, all, count > power + 1 ? "." : "",
                 all + power + 1);
}

/* ---- integers of 64 bits ---- */

static const double exact = 9007199254740992.0; /* 2^53: below it a double has each integer */

static bool fits_64(const char *digits)
{
    char *behind;

    errno = 0;
    if (*digits == '-')
        (void)strtoll(digits, &behind, 10);
    else
        (void)strtoull(digits, &behind, 10);
    return errno == 0 && *behind == '\0';
}

bool json_keep_digits(json_t *number, const char *digits, size_t len)
{
    char text[24];

    if (fabs(number->valuedouble) < exact || len >= sizeof(text))
        return true;
    memcpy(text, digits, len);
    text[len] = '\0';
    if (!fits_64(text))
        return true;
    number->valuestring = json_copy_text(text);
    return number->valuestring != NULL;
}

/* A service may have set valuedouble since. */
const char *json_digits(const json_t *number)
{
    const char *text = number->valuestring;

    return text && strtod(text, NULL) == number->valuedouble ? text : NULL;
}

static json_t *new_integer(double value, const char *digits)
{
    json_t *item = json_new_number(value);

    if (!item || json_keep_digits(item, digits, strlen(digits)))
        return item;
    json_delete(item);
    return NULL;
}

json_t *json_new_int64(int64_t value)
{
    char digits[24];

    (void)snprintf(digits, sizeof(digits), "%" PRId64, value);
    return new_integer((double)value, digits);
}

json_t *json_new_uint64(uint64_t value)
{
    char digits[24];

    (void)snprintf(digits, sizeof(digits), "%" PRIu64, value);
    return new_integer((double)value, digits);
}

static bool is_integer(const json_t *item)
{
    if (!item || (item->type & JSON_TYPE) != cJSON_Number || !isfinite(item->valuedouble))
        return false;
    return fabs(item->valuedouble) >= exact ||
           (double)(long long)item->valuedouble == item->valuedouble;
}

int json_int64(const json_t *item, int64_t *value)
{
    const char *digits;

    if (!is_integer(item) || !value)
        return -1;
    digits = json_digits(item);
    errno = 0;
    if (digits)
        *value = strtoll(digits, NULL, 10);
    else if (item->valuedouble >= -0x1p63 && item->valuedouble < 0x1p63)
        *value = (int64_t)item->valuedouble;
    else
        return -1;
    return errno == 0 ? 0 : -1;
}

int json_uint64(const json_t *item, uint64_t *value)
{
    const char *digits;

    if (!is_integer(item) || !value || item->valuedouble < 0)
        return -1;
    digits = json_digits(item);
    if (digits)
        *value = strtoull(digits, NULL, 10);
    else if (item->valuedouble < 0x1p64)
        *value = (uint64_t)item->valuedouble;
    else
        return -1;
    return 0;
}

static bool reads_back(const char *all, int power, double number)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%se%d", all, power + 1 - (int)strlen(all));
    return strtod(text, NULL) == number;
}

/*
 * Print a number that has few digits behind the point: the fewest such that one exact division gives it again.
 * @return false: it has not
 */
static bool put_short(char *text, double number)
{
    static const double powers[] = {1e1, 1e2, 1e3, 1e4, 1e5, 1e6};

    if (FLT_EVAL_METHOD != 0 || number >= 1e9 || number < 1e-3)
        return false;
    for (size_t i = 0; i < sizeof(powers) / sizeof(powers[0]); i++) {
        const long long scaled = (long long)(number * powers[i] + 0.5);
        const long long unit = (long long)powers[i];

        if ((double)scaled / powers[i] != number)
            continue;
        (void)snprintf(text, JSON_NUMBER_ROOM - 1, "%lld.%0*lld", scaled / unit, (int)i + 1,
                       scaled % unit);
        return true;
    }
    return false;
}

void json_print_number(char text[JSON_NUMBER_ROOM], double number)
{
    char all[20];
    char *to = text;

    if (!isfinite(number)) {
        memcpy(text, "null", sizeof("null"));
        return;
    }
    if (signbit(number))
        *to++ = '-';
    number = fabs(number);
    if (number <= exact && number == (double)(long long)number) {
        snprintf(to, JSON_NUMBER_ROOM - 1, "%lld", (long long)number);
        return;
    }
    if (put_short(to, number))
        return;
    /* Any 15 digits survive a normal double, so fewer are found by leaving out zeros. */
    for (int precision = isnormal(number) ? 15 : 1; precision <= 17; precision++) {
        int power = decimal(all, number, precision);

        if (!reads_back(all, power, number))
            continue;
        put_decimal(to, JSON_NUMBER_ROOM - 1, all, power);
        return;
    }
}
