/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/text/utc.h"

#include "kit/pure/number.h"

#include <time.h>

size_t text_utc(char dst[TEXT_UTC_MAX], int64_t seconds, char between)
{
    time_t t = (time_t)seconds;
    struct tm tm;

    if (!gmtime_r(&t, &tm) || tm.tm_year < -1900 || tm.tm_year > 9999 - 1900)
        return 0;
    memcpy(dst, "0000-00-00T00:00:00Z", sizeof("0000-00-00T00:00:00Z"));
    (void)number_padded(dst, 4, (unsigned)(tm.tm_year + 1900));
    (void)number_padded(dst + 5, 2, (unsigned)(tm.tm_mon + 1));
    (void)number_padded(dst + 8, 2, (unsigned)tm.tm_mday);
    dst[10] = between;
    (void)number_padded(dst + 11, 2, (unsigned)tm.tm_hour);
    (void)number_padded(dst + 14, 2, (unsigned)tm.tm_min);
    (void)number_padded(dst + 17, 2, (unsigned)tm.tm_sec);
    return sizeof("0000-00-00T00:00:00Z") - 1;
}
