/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"

#include "kit/metrics/metrics.h"

#include <monkey/events.h>
#include <monkey/inspect.h>
#include <monkey/plugin.h>

#include <stdio.h>

enum { LABELS_MAX = 512 };

/* The one column of the list in JSON; in words there is no list. */
static const struct reply_column columns[] = {{"name", 0}};

/* ---- counters of the server ---- */

static void tell_sample(void *arg, const struct metrics_sample *s)
{
    struct reply *r = arg;
    char text[METRICS_TEXT];

    if (!r->json) {
        (void)metrics_write(text, s);
        cheetah_reply_raw(r, "%s", text);
        return;
    }
    cheetah_reply_row(r, columns);
    cheetah_reply_text(r, "name", mk_str_from(s->name));
    for (unsigned i = 0; i < s->nlabels; i++)
        cheetah_reply_text(r, s->labels[i].name, mk_str_from(s->labels[i].value));
    cheetah_reply_number(r, "value", s->value);
    cheetah_reply_row_end(r);
}

/* ---- counters of plugins ---- */

struct telling {
    struct reply *reply;
    char name[128]; /* of the family that is open; "": none */
    bool has_list;
};

/* As a label's value is written: a backslash, a quote and the end of a line are escaped, and what is not printable
 * ASCII, which need not be the UTF-8 that readers insist on, is a question mark. @return bytes written. */
static size_t quote(char *dst, size_t size, struct mk_str value)
{
    size_t len = 0;

    for (size_t i = 0; i < value.len && len + 2 < size; i++) {
        char c = value.p[i];

        if (c == '\\' || c == '"' || c == '\n')
            dst[len++] = '\\';
        if (c == '\n')
            dst[len++] = 'n';
        else
            dst[len++] = (char)(c >= ' ' && c < 0x7f ? c : '?');
    }
    return len;
}

/* "name=\"value\",..." as far as there is room for whole labels. */
static size_t join_labels(const struct mk_metric *m, char *dst, size_t size)
{
    size_t len = 0;

    for (unsigned i = 0; i < m->nlabels; i++) {
        size_t name = strlen(m->labels[i].name);

        if (name + 2 * m->labels[i].value.len + 4 > size - len)
            break;
        if (i > 0)
            dst[len++] = ',';
        memcpy(dst + len, m->labels[i].name, name);
        len += name;
        dst[len++] = '=';
        dst[len++] = '"';
        len += quote(dst + len, size - len, m->labels[i].value);
        dst[len++] = '"';
    }
    return len;
}

static void tell_of_plugin_in_json(struct reply *r, const struct mk_metric *m)
{
    cheetah_reply_row(r, columns);
    cheetah_reply_text(r, "name", mk_str_from(m->name));
    for (unsigned i = 0; i < m->nlabels; i++)
        cheetah_reply_text(r, m->labels[i].name, m->labels[i].value);
    cheetah_reply_real(r, "value", m->value);
    cheetah_reply_row_end(r);
}

static void tell_of_plugin(void *arg, const struct mk_metric *m)
{
    struct telling *t = arg;
    char labels[LABELS_MAX];
    size_t len;

    if (t->reply->json) {
        tell_of_plugin_in_json(t->reply, m);
        return;
    }
    if (strcmp(t->name, m->name) != 0)
        cheetah_reply_raw(t->reply, "# HELP %s %s\n# TYPE %s %s\n", m->name, m->help, m->name,
                          m->is_counter ? "counter" : "gauge");
    (void)snprintf(t->name, sizeof(t->name), "%s", m->name);
    len = join_labels(m, labels, sizeof(labels));
    cheetah_reply_raw(t->reply, "%s%s%.*s%s %.15g\n", m->name, len ? "{" : "", (int)len, labels,
                      len ? "}" : "", m->value);
}

static const struct reply_column brief_columns[] = {{"metric", 34}, {"labels", 40}, {"value", 0}};

static void tell_brief(void *arg, const struct mk_metric *m)
{
    struct telling *t = arg;
    char labels[LABELS_MAX];

    if (!m->is_brief)
        return;
    if (!t->has_list)
        cheetah_reply_list(t->reply, "plugins", brief_columns,
                           sizeof(brief_columns) / sizeof(brief_columns[0]));
    t->has_list = true;
    cheetah_reply_row(t->reply, brief_columns);
    cheetah_reply_text(t->reply, "metric", mk_str_from(m->name));
    cheetah_reply_text(t->reply, "labels",
                       (struct mk_str){labels, join_labels(m, labels, sizeof(labels))});
    cheetah_reply_real(t->reply, "value", m->value);
    cheetah_reply_row_end(t->reply);
}

void cheetah_metrics_tell_brief(struct mk_worker *w, struct reply *r)
{
    struct telling t = {.reply = r};

    mk_worker_metrics(w, tell_brief, &t);
    if (t.has_list && r->json)
        cheetah_reply_list_end(r);
}

void cheetah_metrics_tell(struct mk_worker *w, struct reply *r)
{
    struct telling t = {.reply = r};

    if (r->json)
        cheetah_reply_list(r, "metrics", columns, 1);
    metrics_each(mk_worker_server(w), tell_sample, r);
    mk_worker_metrics(w, tell_of_plugin, &t);
    if (r->json)
        cheetah_reply_list_end(r);
}
