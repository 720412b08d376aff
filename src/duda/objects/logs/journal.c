/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/text/utc.h"
#include "objects/logs/logs.h"
#include "objects/objects.h"
#include "objects/logs/scribe.h"
#include "service/request.h"

#include <monkey/web/json.h>

#include <stdarg.h>
#include <stdio.h>

/* Lines of JSON for the thread that writes logs. */

enum { LINE_MAX_BYTES = 4096 };

struct journal {
    struct mk_duda_file_queue *file; /* NULL: no LogDir */
};

static int ready(struct mk_duda_service *s)
{
    struct journal *journal = mk_duda_state(s, MK_DUDA_PART_JOURNAL);
    char path[MK_MAX_PATH];

    if (s->level < 3 || !s->spec.logdir)
        return 0;
    (void)snprintf(path, sizeof(path), "%s%s.log", s->spec.logdir, s->spec.name);
    journal->file = mk_duda_logs_add(s, path, -1);
    return journal->file ? 0 : mk_duda_refuse(s, "no memory");
}

static void add(struct mk_json *j, const char *name, const char *value)
{
    mk_json_key(j, mk_str_from(name));
    mk_json_text(j, mk_str_from(value));
}

/* Which request is being answered, if it has a name. */
static void add_request(struct mk_json *j)
{
    const struct mk_duda_request *rq = mk_duda_here()->request;

    if (rq && rq->id)
        add(j, "request", rq->id);
}

static int write_pairs(const char *level, const char *event, va_list pairs)
{
    struct mk_duda_service *s = mk_duda_here()->service;
    const struct journal *journal = s ? mk_duda_state(s, MK_DUDA_PART_JOURNAL) : NULL;
    struct mk_duda_file_queue *file;
    char line[LINE_MAX_BYTES], now[TEXT_UTC_MAX];
    struct mk_json j;
    const char *name;

    if (!journal || !event)
        return -1;
    (void)text_utc(now, mk_duda_xtime.now(), 'T');
    mk_json_begin(&j, line, sizeof(line) - 1, NULL, NULL); /* and a line end */
    mk_json_object(&j);
    add(&j, "time", now);
    add(&j, "level", level);
    add(&j, "event", event);
    add_request(&j);
    while ((name = va_arg(pairs, const char *)))
        add(&j, name, va_arg(pairs, const char *));
    mk_json_close(&j);
    if (mk_json_end(&j) < 0)
        return -1;
    line[j.len] = '\n';
    file = journal->file ? journal->file : mk_duda_logs_messages(s);
    return file && mk_duda_queue_put(file, line, j.len + 1) ? 0 : -1;
}

#define REPORT(level)                                                                              \
    static int level(const char *event, ...)                                                       \
    {                                                                                              \
        va_list pairs;                                                                             \
        int result;                                                                                \
                                                                                                   \
        va_start(pairs, event);                                                                    \
        result = write_pairs(#level, event, pairs);                                                \
        va_end(pairs);                                                                             \
        return result;                                                                             \
    }
REPORT(info)
REPORT(warn)
REPORT(error)

const struct mk_duda_part mk_duda_journal_part = {.service_size = sizeof(struct journal),
                                                  .ready = ready};

const struct duda_api_journal mk_duda_journal = {.info = info, .warn = warn, .error = error};
