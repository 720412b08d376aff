/* SPDX-License-Identifier: Apache-2.0 */
#include "json/tree.h"
#include "kit/json/write.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Integers of 64 bits, which keep their digits. */

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
