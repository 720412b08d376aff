/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <syslog.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1024 };

static bool to_syslog;

void mk_report_to_syslog(void)
{
    if (to_syslog)
        return;
    openlog("monkey", LOG_PID | LOG_NDELAY, LOG_DAEMON);
    to_syslog = true;
}

static void emit(const char *line, size_t len)
{
    if (to_syslog)
        syslog(LOG_ERR, "%.*s", (int)len, line);
    else if (write(STDERR_FILENO, line, len) < 0)
        return; /* there is nobody left to tell */
}

/* err: its text follows the sentence; 0: none */
static MK_PRINTF(2, 0) void report(int err, const char *fmt, va_list args)
{
    char sentence[LINE_MAX_BYTES - 128], line[LINE_MAX_BYTES];
    int len;

    (void)vsnprintf(sentence, sizeof(sentence), fmt, args);
    len = snprintf(line, sizeof(line), "monkey: %s%s%s\n", sentence, err ? ": " : "",
                   err ? strerror(err) : "");
    emit(line, (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1);
}

void mk_report(const char *fmt, ...)
{
    int err = errno;
    va_list args;

    va_start(args, fmt);
    report(0, fmt, args);
    va_end(args);
    errno = err;
}

void mk_report_errno(const char *fmt, ...)
{
    int err = errno;
    va_list args;

    va_start(args, fmt);
    report(err, fmt, args);
    va_end(args);
    errno = err;
}

void mk_report_text(void *arg, const char *text, size_t len)
{
    (void)arg;
    if (len == 0)
        return;
    emit(text, len);
    if (text[len - 1] != '\n' && !to_syslog)
        emit("\n", 1);
}
