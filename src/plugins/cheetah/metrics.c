/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"

#include <monkey/events.h>
#include <monkey/inspect.h>

#include <inttypes.h>
#include <stdio.h>

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
    {"head.", "monkey_faulty_heads_total", "Requests refused for their head, by what was wrong."},
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

static void lower(char *dst, size_t size, const char *text)
{
    size_t i = 0;

    for (; text[i] && i + 1 < size; i++)
        dst[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i]);
    dst[i] = '\0';
}

static void tell_reasons_of(const struct mk_worker *w, struct reply *r, const char *kind,
                            const char *metric)
{
    const char *name;
    uint64_t count;

    for (unsigned i = 0; mk_worker_refusals(w, i, &name, &count); i++) {
        char reason[64];

        if (strncmp(name, kind, strlen(kind)) != 0)
            continue;
        lower(reason, sizeof(reason), name + strlen(kind));
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
    tell_one(r, "monkey_start_time_seconds", "gauge", "When the server was started, since 1970.",
             (uint64_t)facts.started_s);
    tell_one(r, "monkey_uptime_seconds", "gauge", "Whole seconds since then.",
             (uint64_t)facts.uptime_ms / 1000);
    tell_one(r, "monkey_workers", "gauge", "Worker threads.", facts.workers);
    tell_one(r, "monkey_configurations", "gauge",
             "Configurations alive: one, and those that old requests still need.", facts.snapshots);
    tell_one(r, "monkey_reloads_total", "counter", "Reloads that succeeded.", facts.reloads);
}

void metrics_tell(struct mk_server *server, struct reply *r)
{
    if (r->json)
        reply_list(r, "metrics", columns, 1);
    tell_server(server, r);
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        tell_family(server, r, &families[i]);
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        const struct mk_worker *w;

        begin_family(r, reasons[i].name, "counter", reasons[i].help);
        for (unsigned j = 0; (w = mk_server_worker(server, j)); j++)
            tell_reasons_of(w, r, reasons[i].kind, reasons[i].name);
    }
    if (r->json)
        reply_list_end(r);
}
