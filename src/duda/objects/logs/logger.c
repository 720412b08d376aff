/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/logs/logs.h"
#include "objects/plain/monkey_time.h"
#include "objects/logs/scribe.h"

#include <stdarg.h>

/* The member of the log that is the interface's own keeps its queue. */
static struct mk_duda_file_queue *queue_of(const duda_logger_t *log)
{
    return log->global_key.data;
}

static const char *open_log(struct mk_duda_service *s, duda_logger_t *log, const char *name)
{
    char path[MK_MAX_PATH];
    int fd;

    if (!s->ws.logdir.data)
        return "there is no LogDir";
    if ((size_t)snprintf(path, sizeof(path), "%s%s", s->ws.logdir.data, name) >= sizeof(path))
        return "its path is too long";
    fd = mk_duda_open_log(path);
    if (fd < 0)
        return "it cannot be opened";
    log->global_key.data = mk_duda_logs_add(s, path, fd);
    return log->global_key.data ? NULL : "no memory";
}

int mk_duda_logger_create(struct web_service *ws, duda_logger_t *log, char *name)
{
    struct mk_duda_service *s = ws ? mk_duda_service_of(ws) : NULL;
    const char *wrong;

    if (!s || !log || !name || !mk_duda_is_set_up(s, "duda_logger_create"))
        return -1;
    *log = (duda_logger_t){.enabled = MK_FALSE, .name = mk_duda_copy(s, name, strlen(name))};
    wrong = log->name ? open_log(s, log, name) : "no memory";
    if (wrong) {
        mk_duda_log(s, MK_LOG_ERROR, "duda_logger_create(): %s: %s", name, wrong);
        return -1;
    }
    log->enabled = MK_TRUE;
    return 0;
}

/* @return bytes of "[time] text"; -1 */
__attribute__((format(printf, 2, 0))) static int write_line(char line[MK_DUDA_LOG_LINE_MAX],
                                                            const char *fmt, va_list args)
{
    size_t at = mk_duda_time_text(line, mk_duda_xtime.now());
    int n;

    line[at++] = ' ';
    n = vsnprintf(line + at, MK_DUDA_LOG_LINE_MAX - at, fmt, args);
    if (n < 0)
        return -1;
    return (size_t)n < MK_DUDA_LOG_LINE_MAX - at ? (int)at + n : MK_DUDA_LOG_LINE_MAX - 1;
}

__attribute__((format(printf, 2, 3))) static int print(duda_logger_t *log, char *fmt, ...)
{
    char line[MK_DUDA_LOG_LINE_MAX];
    va_list args;
    int len;

    if (!log || !fmt || !log->enabled)
        return 0;
    if (!queue_of(log))
        return -1;
    va_start(args, fmt);
    len = write_line(line, fmt, args);
    va_end(args);
    return len >= 0 && mk_duda_queue_put(queue_of(log), line, (size_t)len) ? len : -1;
}

const struct duda_api_logger mk_duda_logger = {
    .print = print,
};
