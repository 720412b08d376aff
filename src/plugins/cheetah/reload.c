/* SPDX-License-Identifier: Apache-2.0 */
#include "reload.h"

#include <monkey/inspect.h>
#include <monkey/plugin.h>

#include <stdlib.h>

enum { REPORT_MAX = 64 << 10 };

static struct reload count(const struct mk_worker *w)
{
    struct mk_server_facts facts = {.size = sizeof(facts)};

    mk_server_facts(mk_worker_server(w), &facts);
    return (struct reload){facts.reloads, facts.reloads_failed};
}

void cheetah_reload_note(struct reload *reload, const struct mk_worker *w)
{
    *reload = count(w);
}

bool cheetah_reload_has_ended(const struct reload *reload, const struct mk_worker *w)
{
    struct reload now = count(w);

    return now.done != reload->done || now.failed != reload->failed;
}

static const struct reply_column columns[] = {{"found", 0}};

static void tell_report(const struct mk_worker *w, struct reply *r)
{
    char *text = malloc(REPORT_MAX), *at = text;
    size_t left = text ? mk_server_reload_report(mk_worker_server(w), text, REPORT_MAX) : 0;

    if (left > 0)
        cheetah_reply_list(r, "found", columns, 1);
    for (char *end; left > 0 && (end = memchr(at, '\n', left)); at = end + 1) {
        cheetah_reply_row(r, columns);
        cheetah_reply_text(r, "found", (struct mk_str){at, (size_t)(end - at)});
        cheetah_reply_row_end(r);
        left -= (size_t)(end - at) + 1;
    }
    if (at > text)
        cheetah_reply_list_end(r);
    free(text);
}

void cheetah_reload_tell(const struct reload *reload, const struct mk_worker *w, struct reply *r)
{
    struct reload now = count(w);

    if (now.failed != reload->failed)
        cheetah_reply_text(r, "reload", MK_STR("failed; the old configuration stays in force"));
    else if (now.done != reload->done)
        cheetah_reply_text(r, "reload", MK_STR("done"));
    else
        cheetah_reply_text(r, "reload", MK_STR("in progress; the error log will have the result"));
    if (cheetah_reload_has_ended(reload, w))
        tell_report(w, r);
    cheetah_reply_end(r);
}
