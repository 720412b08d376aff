/* SPDX-License-Identifier: Apache-2.0 */
#include "json/decimal.h"
#include "json/tree.h"
#include "kit/json/write.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>

/* Numbers read and printed with a point, whatever the locale of the service: RFC 8259 section 6. */

enum {
    DIGITS_MAX = 19,  /* of 64 bits */
    EXACT_POWER = 22, /* a double has 10^22, not 10^23 */
};

/* What the grammar lets be a number. */
struct scanned {
    const char *begin, *end;
    bool is_negative;
    uint64_t value; /* of the digits, if 64 bits hold them */
    long power;     /* of ten */
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
static const char *take_exponent(struct scanned *n, const char *p, const char *end)
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
static const char *take_fraction(struct scanned *n, const char *p, const char *end)
{
    const char *behind = take_digits(p, end, &n->value);

    n->power = p - behind;
    return behind > p ? behind : NULL;
}

/* @return false: it is no number */
static bool scan(struct scanned *n, const char *p, const char *end)
{
    const char *first;

    *n = (struct scanned){.begin = p, .is_negative = p < end && *p == '-'};
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
static bool fits_value(const struct scanned *n)
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

static bool read_short(const struct scanned *n, double *number)
{
    if (!fits_value(n) ||
        (!read_exact(n->value, n->power, number) && !json_to_double(n->value, n->power, number)))
        return false;
    if (n->is_negative)
        *number = -*number;
    return true;
}

/*
 * The point of a locale may be any text, so numbers go through strtod without one: 1.25e3 as 125e1.
 * @return false: no memory
 */
static bool read_long(const struct scanned *n, double *number)
{
    const size_t size = (size_t)(n->end - n->begin) + 24;
    char room[64], *text = size > sizeof(room) ? json_memory->alloc(size) : room, *to = text;

    if (!text)
        return false;
    for (const char *p = n->begin; p < n->end && *p != 'e' && *p != 'E'; p++) {
        if (*p != '.')
            *to++ = *p;
    }
    (void)snprintf(to, 24, "e%ld", n->power);
    *number = strtod(text, NULL);
    if (text != room)
        json_memory->free(text);
    return true;
}

const char *json_read_number(const char *p, const char *end, double *number)
{
    struct scanned n;

    *number = (double)NAN;
    if (!scan(&n, p, end))
        return NULL;
    *number = 0;
    if (!read_short(&n, number) && !read_long(&n, number))
        return NULL;
    return isfinite(*number) ? n.end : NULL;
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

bool json_needs_digits(double number, const char *digits, size_t len)
{
    char text[24];

    if (fabs(number) < exact || len >= sizeof(text))
        return false;
    memcpy(text, digits, len);
    text[len] = '\0';
    return fits_64(text);
}

/* A service may have set valuedouble since. */
const char *json_digits(const json_t *number)
{
    const char *text = number->valuestring, *behind;
    double value = 0;

    if (!text)
        return NULL;
    behind = json_read_number(text, text + strlen(text), &value);
    return behind && *behind == '\0' && value == number->valuedouble ? text : NULL;
}

static json_t *new_integer(double value, const char *digits)
{
    json_t *item = json_new_number(value);

    if (!item || !json_needs_digits(value, digits, strlen(digits)))
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

/* ---- printing ---- */

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
