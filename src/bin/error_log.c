/* SPDX-License-Identifier: Apache-2.0 */
#include "error_log.h"

#include "guarded_open.h"
#include "report.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOG_MODE = 0640, LINE = 2048 };

void mk_error_log(const char *target, const char *line)
{
    char text[LINE], stamp[32];
    struct timespec now;
    struct tm tm;
    int len, fd = STDERR_FILENO;

    if (target && strcmp(target, "syslog") == 0) {
        mk_report_to_syslog();
        mk_report("%s", line);
        return;
    }
    if (target && strcmp(target, "stderr") != 0)
        fd = mk_guarded_open(target, O_WRONLY | O_APPEND | O_CREAT, LOG_MODE, NULL);
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &tm);
    (void)strftime(stamp, sizeof(stamp), "%FT%T", &tm);
    len = snprintf(text, sizeof(text), "%s.%03dZ level=error in=server %s\n", stamp,
                   (int)(now.tv_nsec / 1000000), line);
    if (len >= LINE)
        len = LINE - 1;
    if (fd < 0 || write(fd, text, (size_t)len) < 0) /* which may be a pipe that is full */
        mk_report("%s", line);
    if (fd > STDERR_FILENO)
        close(fd);
}
