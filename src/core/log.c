/* SPDX-License-Identifier: Apache-2.0 */
#include "core/log.h"

#include "base/limits.h"
#include "core/fd.h"
#include "core/log_sink_int.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

const char *const mk_log_level_names[] = {"error", "warn", "info", "debug", "trace", NULL};
const char *const mk_log_component_names[] = {
#define COMPONENT_NAME(name, text) text,
    MK_LOG_COMPONENTS(COMPONENT_NAME)
#undef COMPONENT_NAME
        NULL};

void mk_log_init(struct mk_log *log)
{
    *log = (struct mk_log){
        .fd = STDERR_FILENO, .level = MK_LOG_INFO, .syslog_fd = -1, .syslog_path = "/dev/log"};
    pthread_mutex_init(&log->lock, NULL);
}

void mk_log_fini(struct mk_log *log)
{
    if (log->own_fd)
        (void)close(log->fd);
    mk_fd_close(&log->syslog_fd);
    pthread_mutex_destroy(&log->lock);
}

void mk_log_set_levels(struct mk_log *log, int level, unsigned traced, int traced_level)
{
    unsigned all = (1U << MK_LOG_COMPONENT_COUNT) - 1;

    atomic_store(&log->level, level);
    atomic_store(&log->traced_level, traced_level);
    atomic_store(&log->traced, traced);
    atomic_store(&log->traces, level == MK_LOG_TRACE          ? all
                               : traced_level == MK_LOG_TRACE ? traced
                                                              : 0);
}

void mk_log_set_fd(struct mk_log *log, int fd)
{
    pthread_mutex_lock(&log->lock);
    if (log->own_fd)
        (void)close(log->fd);
    log->fd = fd;
    log->own_fd = fd > STDERR_FILENO;
    log->torn = false;
    pthread_mutex_unlock(&log->lock);
}

static int write_stamp(char *dst, size_t size, enum mk_log_level level, enum mk_log_component in)
{
    struct timespec now;
    struct tm tm;

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    return snprintf(dst, size, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ level=%s in=%s ",
                    tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
                    (int)(now.tv_nsec / 1000000), mk_log_level_names[level],
                    mk_log_component_names[in]);
}

static int syslog_priority(enum mk_log_level level)
{
    static const int priorities[] = {LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG, LOG_DEBUG};

    return LOG_DAEMON | priorities[level];
}

/* Under the lock. @param line  begins with a stamp; there is room for a line feed in place of its NUL */
static bool send_line(struct mk_log *log, enum mk_log_level level, char *line, int stamp, int len)
{
    ssize_t n;

    if (log->fd < 0)
        return mk_log_syslog_now(&log->syslog_fd, log->syslog_path, syslog_priority(level),
                                 line + stamp);
    if (log->torn && mk_log_write_now(log->fd, "\n", 1) != 1)
        return false;
    line[len] = '\n';
    n = mk_log_write_now(log->fd, line, (size_t)len + 1); /* a full disk must not stop the server */
    log->torn = n > 0 && n <= len;
    return n == len + 1;
}

/* Under the lock. @return whether there is nothing to report, or it was taken. */
static bool report_lost(struct mk_log *log, enum mk_log_component in)
{
    char line[160];
    int stamp, len;

    if (log->lost == 0)
        return true;
    stamp = write_stamp(line, sizeof(line), MK_LOG_WARN, in);
    len = stamp + snprintf(line + stamp, sizeof(line) - (size_t)stamp - 1, "lines lost count=%u",
                           log->lost);
    if (!send_line(log, MK_LOG_WARN, line, stamp, len))
        return false;
    log->lost = 0;
    return true;
}

static void write_line(struct mk_log *log, enum mk_log_level level, enum mk_log_component in,
                       const char *fmt, va_list args) MK_PRINTF(4, 0);

static void write_line(struct mk_log *log, enum mk_log_level level, enum mk_log_component in,
                       const char *fmt, va_list args)
{
    char line[MK_LIMIT_LOG_LINE];
    int stamp = log->take ? 0 : write_stamp(line, sizeof(line), level, in), len;

    len = vsnprintf(line + stamp, sizeof(line) - (size_t)stamp - 1, fmt, args);
    if (len < 0)
        return;
    if (log->take) {
        log->take(log->take_arg, level, mk_log_component_names[in], line);
        return;
    }
    len += stamp;
    if (len > (int)sizeof(line) - 2)
        len = (int)sizeof(line) - 2;
    pthread_mutex_lock(&log->lock);
    if (!report_lost(log, in) || !send_line(log, level, line, stamp, len))
        log->lost++;
    pthread_mutex_unlock(&log->lock);
}

void mk_log(struct mk_log *log, enum mk_log_level level, enum mk_log_component in, const char *fmt,
            ...)
{
    int saved = errno;
    va_list args;

    if (!mk_log_wants(log, level, in))
        return;
    va_start(args, fmt);
    write_line(log, level, in, fmt, args);
    va_end(args);
    errno = saved;
}

/* Takes one line from this second's allowance; on a new second tells what the last one hid. */
static bool take_allowance(struct mk_log *log, unsigned *hidden)
{
    struct timespec now;
    bool allowed;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    *hidden = 0;
    pthread_mutex_lock(&log->lock);
    if (now.tv_sec != log->window_s) {
        *hidden = log->suppressed;
        log->window_s = now.tv_sec;
        log->peer_lines = log->suppressed = 0;
    }
    allowed = log->peer_lines < MK_LIMIT_LOG_PEER_LINES;
    if (allowed)
        log->peer_lines++;
    else
        log->suppressed++;
    pthread_mutex_unlock(&log->lock);
    return allowed;
}

void mk_log_peer(struct mk_log *log, enum mk_log_level level, enum mk_log_component in,
                 const char *fmt, ...)
{
    unsigned hidden;
    int saved = errno;
    va_list args;

    if (!mk_log_wants(log, level, in) || !take_allowance(log, &hidden))
        return;
    if (hidden)
        mk_log(log, MK_LOG_WARN, in, "lines suppressed count=%u", hidden);
    va_start(args, fmt);
    write_line(log, level, in, fmt, args);
    va_end(args);
    errno = saved;
}
