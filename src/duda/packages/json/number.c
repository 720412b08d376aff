/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <locale.h>
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

/* @return the number of a text with a point; an infinity: the C locale cannot be had, which comes of no memory */
static double to_number(const char *text)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double number;

    if (!plain)
        return (double)INFINITY;
    number = strtod_l(text, NULL, plain);
    freelocale(plain);
    return number;
}

const char *json_read_number(const char *p, const char *end, double *number)
{
    const char *behind = number_end(p, end);
    size_t len = behind ? (size_t)(behind - p) : 0;
    char room[64], *text = room;

    if (!behind)
        return NULL;
    if (len >= sizeof(room))
        text = json_memory->alloc(len + 1);
    if (!text)
        return NULL;
    memcpy(text, p, len);
    text[len] = '\0';
    *number = to_number(text);
    if (text != room)
        json_memory->free(text);
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

void json_print_number(char text[JSON_NUMBER_ROOM], double number)
{
    static const double exact = 9007199254740992.0; /* 2^53 */
    char all[20];
    char *to = text;

    if (!isfinite(number)) {
        strcpy(text, "null");
        return;
    }
    if (signbit(number))
        *to++ = '-';
    number = fabs(number);
    if (number <= exact && number == (double)(long long)number) {
        snprintf(to, JSON_NUMBER_ROOM - 1, "%lld", (long long)number);
        return;
    }
    /* Any 15 digits survive a normal double, so fewer are found by leaving out zeros. */
    for (int precision = isnormal(number) ? 15 : 1; precision <= 17; precision++) {
        int power = decimal(all, number, precision);

        put_decimal(to, JSON_NUMBER_ROOM - 1, all, power);
        if (to_number(to) == number)
            return;
    }
}
