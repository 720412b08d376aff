/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/json/number.h"

#include "kit/json/decimal.h"
#include "kit/json/write.h"

#include <monkey/types.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers read and printed with a point, whatever the locale of the service: RFC 8259 section 6. */

enum {
    DIGITS_MAX = 19,  /* of 64 bits */
    EXACT_POWER = 22, /* a double has 10^22, not 10^23 */
};

/* @return behind digits, which go to *value */
static const char *take_digits(const char *p, const char *end, uint64_t *value)
{
    uint64_t sum = *value;

    for (; p < end && (unsigned char)(*p - '0') < 10; p++)
        sum = sum * 10 + (uint64_t)(*p - '0');
    *value = sum;
    return p;
}

/* @return behind an exponent, whose letter is before p; NULL: it has no digit */
static const char *take_exponent(struct json_number *n, const char *p, const char *end)
{
    static const long beyond = 100000000; /* of any double, whatever digits stand before */
    const bool is_negative = p < end && *p == '-';
    const char *first;
    long power = 0;

    p += is_negative || (p < end && *p == '+');
    for (first = p; p < end && *p >= '0' && *p <= '9'; p++)
        power = power < beyond ? power * 10 + (*p - '0') : power;
    n->power += is_negative ? -power : power;
    return p > first ? p : NULL;
}

/* @return behind a fraction, whose point is before p; NULL: it has no digit */
static const char *take_fraction(struct json_number *n, const char *p, const char *end)
{
    const char *behind = take_digits(p, end, &n->value);

    n->power = p - behind;
    return behind > p ? behind : NULL;
}

bool json_scan_number(struct json_number *n, const char *p, const char *end)
{
    const char *first;

    *n = (struct json_number){.begin = p, .is_negative = p < end && *p == '-'};
    first = p += n->is_negative;
    p = p < end && *p == '0' ? p + 1 : take_digits(p, end, &n->value);
    if (p == first)
        return false;
    if (p < end && *p == '.')
        p = take_fraction(n, p + 1, end);
    if (p && p < end && (*p == 'e' || *p == 'E'))
        p = take_exponent(n, p + 1, end);
    n->end = p;
    return p != NULL;
}

/* Without zeros before them, 19 always fit. */
static bool fits_value(const struct json_number *n)
{
    const char *p = n->begin + n->is_negative;
    long count = 0;

    if (n->end - p <= DIGITS_MAX)
        return true;
    while (p < n->end && (*p == '0' || *p == '.'))
        p++;
    for (; p < n->end && *p != 'e' && *p != 'E'; p++)
        count += *p != '.';
    return count <= DIGITS_MAX;
}

/* Both the digits and the power of ten are exact, so that one operation rounds once. @return false: they are not */
static bool read_exact(uint64_t value, long power, double *number)
{
    static const double powers[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

    if (FLT_EVAL_METHOD != 0 || value > UINT64_C(1) << 53 || power < -EXACT_POWER ||
        power > EXACT_POWER)
        return false;
    *number = power < 0 ? (double)value / powers[-power] : (double)value * powers[power];
    return true;
}

static bool read_short(const struct json_number *n, double *number)
{
    if (!fits_value(n) ||
        (!read_exact(n->value, n->power, number) && !json_to_double(n->value, n->power, number)))
        return false;
    if (n->is_negative)
        *number = -*number;
    return true;
}

/*
 * The point of a locale may be any text, so numbers go through strtod without one: 1.25e3 as 125e1. No double, and nothing
 * between two, has more than 767 digits that count; one more that is not zero stands for all behind them.
 */
static double read_long(const struct json_number *n)
{
    enum { COUNTING = 770 };
    char text[COUNTING + 32], *to = text;
    const char *p = n->begin;
    long power = n->power;
    bool has_more = false;

    if (*p == '-')
        *to++ = *p++;
    while (p < n->end && (*p == '0' || *p == '.'))
        p++;
    *to++ = '0'; /* for those that have no other digit */
    for (; p < n->end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.')
            continue;
        if (to - text < COUNTING) {
            *to++ = *p;
            continue;
        }
        has_more |= *p != '0';
        power++;
    }
    if (has_more) {
        *to++ = '1';
        power--;
    }
    (void)snprintf(to, 32, "e%ld", power);
    return strtod(text, NULL);
}

bool json_number_double(const struct json_number *n, double *number)
{
    if (!read_short(n, number))
        *number = read_long(n);
    return isfinite(*number);
}

const char *json_read_number(const char *p, const char *end, double *number)
{
    struct json_number n;

    *number = (double)NAN;
    return json_scan_number(&n, p, end) && json_number_double(&n, number) ? n.end : NULL;
}

/* ---- integers ---- */

/* @return false: the product does not fit. Zero fits at once, anything else has ended after 20 steps. */
static bool raise(uint64_t *sum, long power)
{
    while (*sum != 0 && power-- > 0) {
        if (__builtin_mul_overflow(*sum, 10, sum))
            return false;
    }
    return true;
}

/* Zeros count only when another digit follows, so 10.0 and 100e-1 have no fraction. */
int json_number_integer(const struct json_number *n, uint64_t *magnitude)
{
    uint64_t sum = 0;
    bool fits = true;
    long power = 0; /* of ten, by which the next digit moves those before it */

    for (const char *p = n->begin + n->is_negative; p < n->end && *p != 'e' && *p != 'E'; p++) {
        power += *p != '.';
        if (*p == '0' || *p == '.')
            continue;
        fits =
            fits && raise(&sum, power) && !__builtin_add_overflow(sum, (unsigned)(*p - '0'), &sum);
        power = 0;
    }
    power += n->power;
    if ((sum != 0 || !fits) && power < 0)
        return MK_E_BAD;
    if (!fits || !raise(&sum, power))
        return MK_E_LIMIT;
    *magnitude = sum;
    return 0;
}

int json_number_int64(const struct json_number *n, int64_t *number)
{
    uint64_t magnitude;
    const int err = json_number_integer(n, &magnitude);

    if (err < 0)
        return err;
    if (magnitude > (uint64_t)INT64_MAX + n->is_negative)
        return MK_E_LIMIT;
    *number = (int64_t)(n->is_negative ? 0 - magnitude : magnitude);
    return 0;
}

/* ---- printing ---- */

static const double exact = 9007199254740992.0; /* 2^53: below it a double has each integer */

static char *put(char *to, const char *bytes, int len)
{
    return (char *)memcpy(to, bytes, (size_t)len) + len;
}

static char *put_zeros(char *to, int count)
{
    return (char *)memset(to, '0', (size_t)count) + count;
}

static char *put_power(char *to, int power)
{
    *to++ = 'e';
    if (power < 0)
        *to++ = '-';
    return json_put_digits(to, (uint64_t)(power < 0 ? -power : power));
}

/* With an exponent only where zeros would be many. */
static char *put_decimal(char *to, struct json_decimal decimal)
{
    char all[20];
    const int count = (int)(json_put_digits(all, decimal.digits) - all);
    const int first = decimal.power + count - 1; /* the power of ten of the first digit */
    const int whole = first < -5 || first > 16 ? 1 : first + 1;

    if (whole <= 0)
        return put(put_zeros(put(to, "0.", 2), -whole), all, count);
    if (whole >= count) {
        to = put_zeros(put(to, all, count), whole - count);
    } else {
        to = put(to, all, whole);
        *to++ = '.';
        to = put(to, all + whole, count - whole);
    }
    return whole == 1 && first != 0 ? put_power(to, first) : to;
}

char *json_put_number(char *to, double number)
{
    if (!isfinite(number))
        return put(to, "null", 4);
    if (signbit(number))
        *to++ = '-';
    number = fabs(number);
    if (number <= exact && number == (double)(int64_t)number)
        return json_put_digits(to, (uint64_t)number);
    return put_decimal(to, json_shortest(number));
}

void json_print_number(char text[JSON_NUMBER_ROOM], double number)
{
    *json_put_number(text, number) = '\0';
}
