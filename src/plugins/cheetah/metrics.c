/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"

#include "kit/text/words.h"

#include <monkey/events.h>
#include <monkey/inspect.h>
#include <monkey/plugin.h>

#include <inttypes.h>
#include <stdio.h>

enum { LABELS_MAX = 512 };

/* ---- counters of each worker ---- */

struct family {
    const char *name, *type, *help;
    size_t offset; /* of a uint64_t in struct mk_worker_stats */
};

static const struct family families[] = {
    {"monkey_connections", "gauge", "Connections that are open.",
     offsetof(struct mk_worker_stats, connections)},
    {"monkey_connections_accepted_total", "counter", "Connections accepted.",
     offsetof(struct mk_worker_stats, accepted)},
    {"monkey_requests_total", "counter", "Requests answered or being answered.",
     offsetof(struct mk_worker_stats, requests)},
    {"monkey_requests_refused_total", "counter", "Requests that the server refused.",
     offsetof(struct mk_worker_stats, refused)},
    {"monkey_received_bytes_total", "counter", "Bytes received from clients.",
     offsetof(struct mk_worker_stats, bytes_in)},
    {"monkey_sent_bytes_total", "counter", "Bytes sent to clients.",
     offsetof(struct mk_worker_stats, bytes_out)},
    {"monkey_loop_turns_total", "counter", "Turns of the event loop.",
     offsetof(struct mk_worker_stats, turns)},
};

/* Counters that the server has for each reason: the name of a reason begins with the kind. */
static const struct {
    const char *kind, *name, *help;
} reasons[] = {
    {"refused.", "monkey_refusals_total", "Requests refused, by reason."},
    {"head.", "monkey_faulty_heads_total", "Requests refused for an invalid head, by reason."},
    {"closed.", "monkey_closes_total", "Connections closed, by reason."},
};

/* The one column of the list in JSON; in words there is no list. */
static const struct reply_column columns[] = {{"name", 0}};

static void begin_family(struct reply *r, const char *name, const char *type, const char *help)
{
    if (!r->json)
        reply_raw(r, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/** The labels of a sample; NULL: it has none. */
struct label {
    const char *name, *value;
};

static void tell_sample(struct reply *r, const char *name, const struct label *labels,
                        unsigned nlabels, uint64_t value)
{
    char text[256] = "";
    size_t len = 0;

    if (r->json) {
        reply_row(r, columns);
        reply_text(r, "name", mk_str_from(name));
        for (unsigned i = 0; i < nlabels; i++)
            reply_text(r, labels[i].name, mk_str_from(labels[i].value));
        reply_number(r, "value", value);
        reply_row_end(r);
        return;
    }
    for (unsigned i = 0; i < nlabels && len < sizeof(text); i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%c%s=\"%s\"", i == 0 ? '{' : ',',
                                labels[i].name, labels[i].value);
    reply_raw(r, "%s%s%s %" PRIu64 "\n", name, text, nlabels > 0 ? "}" : "", value);
}

static void tell_worker_sample(struct reply *r, const char *name, unsigned worker,
                               const char *reason, uint64_t value)
{
    char number[12];
    struct label labels[] = {{"worker", number}, {"reason", reason}};

    (void)snprintf(number, sizeof(number), "%u", worker);
    tell_sample(r, name, labels, reason ? 2 : 1, value);
}

static void tell_family(struct mk_server *server, struct reply *r, const struct family *f)
{
    struct mk_worker_stats stats = {.size = sizeof(stats)};

    begin_family(r, f->name, f->type, f->help);
    for (unsigned i = 0; mk_server_stats(server, i, &stats) == 0; i++) {
        uint64_t value;

        memcpy(&value, (const char *)&stats + f->offset, sizeof(value));
        tell_worker_sample(r, f->name, i, NULL, value);
    }
}

static void tell_reasons_of(const struct mk_worker *w, struct reply *r, const char *kind,
                            const char *metric)
{
    const char *name;
    uint64_t count;

    for (unsigned i = 0; mk_worker_refusals(w, i, &name, &count); i++) {
        struct mk_str rest;
        char reason[64];

        if (strncmp(name, kind, strlen(kind)) != 0)
            continue;
        rest = mk_str_from(name + strlen(kind));
        if (rest.len >= sizeof(reason))
            rest.len = sizeof(reason) - 1;
        text_lower_copy(reason, rest);
        tell_worker_sample(r, metric, mk_worker_index(w), reason, count);
    }
}

/* ---- counters of the server ---- */

static void tell_one(struct reply *r, const char *name, const char *type, const char *help,
                     uint64_t value)
{
    begin_family(r, name, type, help);
    tell_sample(r, name, NULL, 0, value);
}

static void tell_server(const struct mk_server *server, struct reply *r)
{
    struct mk_server_facts facts = {.size = sizeof(facts)};
    struct label version = {"version", mk_version()};

    mk_server_facts(server, &facts);
    begin_family(r, "monkey_build_info", "gauge", "The version, as a label; always 1.");
    tell_sample(r, "monkey_build_info", &version, 1, 1);
    tell_one(r, "monkey_start_time_seconds", "gauge", "Time of the start, in seconds since 1970.",
             (uint64_t)facts.started_s);
    tell_one(r, "monkey_uptime_seconds", "gauge", "Seconds since the start.",
             (uint64_t)facts.uptime_ms / 1000);
    tell_one(r, "monkey_workers", "gauge", "Worker threads.", facts.workers);
    tell_one(r, "monkey_configurations", "gauge",
             "Configurations in memory: one, and those that older requests still use.",
             facts.snapshots);
    tell_one(r, "monkey_reloads_total", "counter", "Successful reloads.", facts.reloads);
    tell_one(r, "monkey_reloads_failed_total", "counter",
             "Failed reloads: the previous configuration stayed in force.", facts.reloads_failed);
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
    reply_row(r, columns);
    reply_text(r, "name", mk_str_from(m->name));
    for (unsigned i = 0; i < m->nlabels; i++)
        reply_text(r, m->labels[i].name, m->labels[i].value);
    reply_real(r, "value", m->value);
    reply_row_end(r);
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
        begin_family(t->reply, m->name, m->is_counter ? "counter" : "gauge", m->help);
    (void)snprintf(t->name, sizeof(t->name), "%s", m->name);
    len = join_labels(m, labels, sizeof(labels));
    reply_raw(t->reply, "%s%s%.*s%s %.15g\n", m->name, len ? "{" : "", (int)len, labels,
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
        reply_list(t->reply, "plugins", brief_columns,
                   sizeof(brief_columns) / sizeof(brief_columns[0]));
    t->has_list = true;
    reply_row(t->reply, brief_columns);
    reply_text(t->reply, "metric", mk_str_from(m->name));
    reply_text(t->reply, "labels", (struct mk_str){labels, join_labels(m, labels, sizeof(labels))});
    reply_real(t->reply, "value", m->value);
    reply_row_end(t->reply);
}

void metrics_tell_brief(struct mk_worker *w, struct reply *r)
{
    struct telling t = {.reply = r};

    mk_worker_metrics(w, tell_brief, &t);
    if (t.has_list && r->json)
        reply_list_end(r);
}

void metrics_tell(struct mk_worker *w, struct reply *r)
{
    struct mk_server *server = mk_worker_server(w);
    struct telling t = {.reply = r};

    if (r->json)
        reply_list(r, "metrics", columns, 1);
    tell_server(server, r);
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        tell_family(server, r, &families[i]);
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        const struct mk_worker *each;

        begin_family(r, reasons[i].name, "counter", reasons[i].help);
        for (unsigned j = 0; (each = mk_server_worker(server, j)); j++)
            tell_reasons_of(each, r, reasons[i].kind, reasons[i].name);
    }
    mk_worker_metrics(w, tell_of_plugin, &t);
    if (r->json)
        reply_list_end(r);
}
