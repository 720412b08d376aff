/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <syslog.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1024 };

#define NAME "monkey: " /* in front of each line */

static bool to_syslog, print_failed;

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

int mk_print(const char *fmt, ...)
{
    va_list args;
    int len;

    va_start(args, fmt);
    len = vdprintf(STDOUT_FILENO, fmt, args);
    va_end(args);
    if (len < 0)
        print_failed = true;
    return len;
}

bool mk_print_has_failed(void)
{
    return print_failed;
}

void mk_report(const char *fmt, ...)
{
    int err = errno, len, room = LINE_MAX_BYTES - (int)sizeof(NAME);
    char line[LINE_MAX_BYTES];
    va_list args;

    memcpy(line, NAME, sizeof(NAME));
    va_start(args, fmt);
    len = vsnprintf(line + sizeof(NAME) - 1, (size_t)room, fmt, args);
    va_end(args);
    len = (int)sizeof(NAME) - 1 + (len < room ? len : room - 1);
    line[len++] = '\n';
    emit(line, (size_t)len);
    errno = err;
}

const char *mk_errno_text(void)
{
    return strerror(errno);
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
