/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/text/utc.h"

#include <time.h>

static void put_digits(char *dst, unsigned width, int value)
{
    while (width > 0) {
        dst[--width] = (char)('0' + value % 10);
        value /= 10;
    }
}

size_t text_utc(char dst[TEXT_UTC_MAX], int64_t seconds, char between)
{
    time_t t = (time_t)seconds;
    struct tm tm;

    if (!gmtime_r(&t, &tm) || tm.tm_year < -1900 || tm.tm_year > 9999 - 1900)
        return 0;
    memcpy(dst, "0000-00-00T00:00:00Z", sizeof("0000-00-00T00:00:00Z"));
    put_digits(dst, 4, tm.tm_year + 1900);
    put_digits(dst + 5, 2, tm.tm_mon + 1);
    put_digits(dst + 8, 2, tm.tm_mday);
    dst[10] = between;
    put_digits(dst + 11, 2, tm.tm_hour);
    put_digits(dst + 14, 2, tm.tm_min);
    put_digits(dst + 17, 2, tm.tm_sec);
    return sizeof("0000-00-00T00:00:00Z") - 1;
}
