/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/metrics/metrics.h"

#include "kit/text/words.h"

#include <monkey/events.h>
#include <monkey/inspect.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct walk {
    metrics_fn fn;
    void *arg;
};

static void pass(const struct walk *walk, struct metrics_sample *s)
{
    walk->fn(walk->arg, s);
    s->is_first = false;
}

/* ---- the server ---- */

static void pass_one(const struct walk *walk, const char *name, bool is_counter, const char *help,
                     uint64_t value)
{
    struct metrics_sample s = {.name = name, .help = help, .is_first = true, .value = value};

    s.is_counter = is_counter;
    pass(walk, &s);
}

static void pass_server(const struct walk *walk, const struct mk_server *server)
{
    struct mk_server_facts facts = {.size = sizeof(facts)};
    struct metrics_sample build = {
        .name = "monkey_build_info",
        .help = "The version, as a label; always 1.",
        .is_first = true,
        .labels = {{"version", mk_version()}},
        .nlabels = 1,
        .value = 1,
    };

    mk_server_facts(server, &facts);
    pass(walk, &build);
    pass_one(walk, "monkey_start_time_seconds", false, "Time of the start, in seconds since 1970.",
             (uint64_t)facts.started_s);
    pass_one(walk, "monkey_uptime_seconds", false, "Seconds since the start.",
             (uint64_t)facts.uptime_ms / 1000);
    pass_one(walk, "monkey_workers", false, "Worker threads.", facts.workers);
    pass_one(walk, "monkey_configurations", false,
             "Configurations in memory: one, and those that older requests still use.",
             facts.snapshots);
    pass_one(walk, "monkey_reloads_total", true, "Successful reloads.", facts.reloads);
    pass_one(walk, "monkey_reloads_failed_total", true,
             "Failed reloads: the previous configuration stayed in force.", facts.reloads_failed);
    pass_one(walk, "monkey_restarts_total", true,
             "Starts in the place of a server that ended unexpectedly.", facts.restarts);
}

/* ---- its workers ---- */

static const struct family {
    const char *name, *help;
    bool is_counter;
    size_t offset; /* of a uint64_t in struct mk_worker_stats */
} families[] = {
    {"monkey_connections", "Connections that are open.", false,
     offsetof(struct mk_worker_stats, connections)},
    {"monkey_connections_accepted_total", "Connections accepted.", true,
     offsetof(struct mk_worker_stats, accepted)},
    {"monkey_requests_total", "Requests answered or being answered.", true,
     offsetof(struct mk_worker_stats, requests)},
    {"monkey_requests_refused_total", "Requests that the server refused.", true,
     offsetof(struct mk_worker_stats, refused)},
    {"monkey_received_bytes_total", "Bytes received from clients.", true,
     offsetof(struct mk_worker_stats, bytes_in)},
    {"monkey_sent_bytes_total", "Bytes sent to clients.", true,
     offsetof(struct mk_worker_stats, bytes_out)},
    {"monkey_loop_turns_total", "Turns of the event loop.", true,
     offsetof(struct mk_worker_stats, turns)},
};

static void pass_family(const struct walk *walk, const struct mk_server *server,
                        const struct family *family)
{
    struct mk_worker_stats stats = {.size = sizeof(stats)};
    char number[12];
    struct metrics_sample s = {
        .name = family->name,
        .help = family->help,
        .is_counter = family->is_counter,
        .is_first = true,
        .labels = {{"worker", number}},
        .nlabels = 1,
    };

    for (unsigned i = 0; mk_server_stats(server, i, &stats) == 0; i++) {
        (void)snprintf(number, sizeof(number), "%u", i);
        memcpy(&s.value, (const char *)&stats + family->offset, sizeof(s.value));
        pass(walk, &s);
    }
}

/* ---- reasons ---- */

/* Counters that a worker has for each reason: the name of a reason begins with the kind. */
static const struct kind {
    const char *kind, *name, *help;
} kinds[] = {
    {"refused.", "monkey_refusals_total", "Requests refused, by reason."},
    {"head.", "monkey_faulty_heads_total", "Requests refused for an invalid head, by reason."},
    {"closed.", "monkey_closes_total", "Connections closed, by reason."},
};

static void pass_reasons(const struct walk *walk, const struct mk_worker *w,
                         const struct kind *kind, struct metrics_sample *s)
{
    const size_t len = strlen(kind->kind);
    const char *name;

    for (unsigned i = 0; mk_worker_refusals(w, i, &name, &s->value); i++) {
        struct mk_str rest;
        char reason[64];

        if (strncmp(name, kind->kind, len) != 0)
            continue;
        rest = mk_str_from(name + len);
        if (rest.len >= sizeof(reason))
            rest.len = sizeof(reason) - 1;
        text_lower_copy(reason, rest);
        s->labels[1] = (struct metrics_label){"reason", reason};
        pass(walk, s);
    }
}

static void pass_kind(const struct walk *walk, struct mk_server *server, const struct kind *kind)
{
    const struct mk_worker *w;
    char number[12];
    struct metrics_sample s = {
        .name = kind->name,
        .help = kind->help,
        .is_counter = true,
        .is_first = true,
        .labels = {{"worker", number}},
        .nlabels = 2,
    };

    for (unsigned i = 0; (w = mk_server_worker(server, i)); i++) {
        (void)snprintf(number, sizeof(number), "%u", i);
        pass_reasons(walk, w, kind, &s);
    }
}

void metrics_each(struct mk_server *server, metrics_fn fn, void *arg)
{
    const struct walk walk = {fn, arg};

    pass_server(&walk, server);
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        pass_family(&walk, server, &families[i]);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        pass_kind(&walk, server, &kinds[i]);
}

/* ---- in words ---- */

static size_t longer(size_t len, int more)
{
    return more > 0 && len + (size_t)more < METRICS_TEXT ? len + (size_t)more : METRICS_TEXT - 1;
}

size_t metrics_write(char dst[METRICS_TEXT], const struct metrics_sample *s)
{
    size_t len = 0;

    if (s->is_first)
        len = longer(len, snprintf(dst, METRICS_TEXT, "# HELP %s %s\n# TYPE %s %s\n", s->name,
                                   s->help, s->name, s->is_counter ? "counter" : "gauge"));
    len = longer(len, snprintf(dst + len, METRICS_TEXT - len, "%s", s->name));
    for (unsigned i = 0; i < s->nlabels; i++)
        len = longer(len, snprintf(dst + len, METRICS_TEXT - len, "%c%s=\"%s\"", i == 0 ? '{' : ',',
                                   s->labels[i].name, s->labels[i].value));
    return longer(len, snprintf(dst + len, METRICS_TEXT - len, "%s %" PRIu64 "\n",
                                s->nlabels > 0 ? "}" : "", s->value));
}
