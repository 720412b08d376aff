/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/plain.h"

#include <stdio.h>
#include <time.h>

#define SENTENCE "This port speaks TLS. Write https:// in front of the address.\n"

/* strftime would write names in the language of the surrounding program. */
static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

size_t tls_plain_answer(char dst[TLS_PLAIN_MAX], int64_t now_s)
{
    time_t now = (time_t)now_s;
    struct tm tm = {0};
    int len;

    (void)gmtime_r(&now, &tm);
    len = snprintf(dst, TLS_PLAIN_MAX,
                   "HTTP/1.1 400 Bad Request\r\nDate: %s, %02d %s %04d %02d:%02d:%02d GMT\r\n"
                   "Content-Type: text/plain\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
                   days[tm.tm_wday], tm.tm_mday, months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour,
                   tm.tm_min, tm.tm_sec, sizeof(SENTENCE) - 1, SENTENCE);
    return len < TLS_PLAIN_MAX ? (size_t)len : 0;
}
