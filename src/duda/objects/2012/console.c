/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/2012/dashboard.h"
#include "objects/logs/logs.h"
#include "objects/plain/monkey_time.h"
#include "objects/logs/scribe.h"
#include "service/request.h"

#include <stdarg.h>

static const char *base_name(const char *file)
{
    const char *slash = file ? strrchr(file, '/') : NULL;

    return slash ? slash + 1 : file ? file : "?";
}

/* @return bytes of "[time] [fd=N] [file:line] text" with a line end; 0: it cannot be written */
__attribute__((format(printf, 3, 0))) static size_t
write_line(char text[MK_DUDA_LOG_LINE_MAX], const char *head, const char *fmt, va_list args)
{
    size_t at = mk_duda_time_text(text, mk_duda_xtime.now());
    const size_t room = MK_DUDA_LOG_LINE_MAX - 1;
    int n;

    at += (size_t)snprintf(text + at, room - at, " %s ", head);
    n = vsnprintf(text + at, room - at, fmt, args);
    if (n < 0)
        return 0;
    at = (size_t)n < room - at ? at + (size_t)n : room - 1;
    text[at++] = '\n';
    return at;
}

__attribute__((format(printf, 4, 5))) static void debug_line(duda_request_t *dr, char *file,
                                                             int line, char *fmt, ...)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "console->debug");
    struct mk_duda_file_queue *queue = rq ? mk_duda_logs_messages(rq->service) : NULL;
    char head[256], text[MK_DUDA_LOG_LINE_MAX];
    va_list args;
    size_t len;

    if (!queue || !fmt)
        return;
    (void)snprintf(head, sizeof(head), "[fd=%d] [%s:%d]", dr->socket, base_name(file), line);
    va_start(args, fmt);
    len = write_line(text, head, fmt, args);
    va_end(args);
    (void)mk_duda_queue_put(queue, text, len);
}

const struct duda_api_console mk_duda_console = {
    ._debug = debug_line,
    ._dashboard = mk_duda_dashboard_add,
};
