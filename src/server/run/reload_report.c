/* SPDX-License-Identifier: Apache-2.0 */
#include "base/code.h"
#include "base/heap.h"
#include "base/limits.h"
#include "server/run/server_int.h"

#include <monkey/inspect.h>

#include <stdlib.h>

/*
 * What a reload found, where administrators look: the error log, a counter, and a text for who asked for it. Until a server
 * listens, the text is what its first configuration has, for the error log that opens then.
 */

void mk_reload_report_init(struct mk_reload_report *report)
{
    (void)pthread_mutex_init(&report->lock, NULL);
}

void mk_reload_report_fini(struct mk_reload_report *report)
{
    mk_heap_free(report->text);
    (void)pthread_mutex_destroy(&report->lock);
}

void mk_reload_begin(struct mk_server *server)
{
    struct mk_reload_report *report = &server->reload_report;

    pthread_mutex_lock(&report->lock);
    mk_heap_free(report->text);
    report->text = NULL;
    report->len = 0;
    pthread_mutex_unlock(&report->lock);
}

/* Without memory or room the log alone has it. */
static void keep(struct mk_reload_report *report, struct mk_str line)
{
    char *text;

    if (line.len + 1 > MK_LIMIT_RELOAD_REPORT - report->len)
        return;
    text = mk_heap_alloc(report->len + line.len + 1);
    if (!text)
        return;
    if (report->len > 0)
        memcpy(text, report->text, report->len);
    memcpy(text + report->len, line.p, line.len);
    text[report->len + line.len] = '\n';
    mk_heap_free(report->text);
    report->text = text;
    report->len += line.len + 1;
}

static void keep_safely(struct mk_reload_report *report, struct mk_str line)
{
    pthread_mutex_lock(&report->lock);
    keep(report, line);
    pthread_mutex_unlock(&report->lock);
}

static void log_line(struct mk_server *server, bool is_warning, struct mk_str line)
{
    mk_log(&server->shared.log, is_warning ? MK_LOG_WARN : MK_LOG_ERROR, MK_LOG_CONF, "%.*s",
           (int)line.len, line.p);
}

MK_AT_START void mk_start_report_line(struct mk_server *server, bool is_warning, struct mk_str line)
{
    if (is_warning)
        keep_safely(&server->reload_report, line);
}

MK_AT_START void mk_start_report_log(struct mk_server *server)
{
    const char *text = server->reload_report.text;
    struct mk_str rest = {text, server->reload_report.len};

    if (server->shared.log.take || strcmp(server->snapshot->set.error_log, "stderr") != 0) {
        while (rest.len > 0) {
            const size_t len = (size_t)((const char *)memchr(rest.p, '\n', rest.len) - rest.p);

            log_line(server, true, (struct mk_str){rest.p, len});
            rest = (struct mk_str){rest.p + len + 1, rest.len - len - 1};
        }
    }
    mk_reload_begin(server);
}

void mk_reload_report_line(struct mk_server *server, bool is_warning, struct mk_str line)
{
    log_line(server, is_warning, line);
    keep_safely(&server->reload_report, line);
}

void mk_reload_report_failed(struct mk_server *server, const char *why)
{
    mk_log(&server->shared.log, MK_LOG_ERROR, MK_LOG_SERVER,
           "reload failed: %s; the old configuration stays in force", why);
    keep_safely(&server->reload_report, mk_str_from(why));
    atomic_fetch_add(&server->reloads_failed, 1);
}

MK_AT_START size_t mk_server_reload_report(struct mk_server *server, char *text, size_t size)
{
    struct mk_reload_report *report = &server->reload_report;
    size_t len;

    pthread_mutex_lock(&report->lock);
    len = report->len < size ? report->len : size;
    if (len > 0)
        memcpy(text, report->text, len);
    pthread_mutex_unlock(&report->lock);
    return len;
}
