/* SPDX-License-Identifier: Apache-2.0 */
#include "held.h"

#include "gather.h"

#include <monkey/stream.h>

#include <stdlib.h>

struct held {
    struct logger_sink *sink;
    struct logger_pipe *pipe;
    struct logger_target *target;
    const struct mk_worker *worker;
    int64_t began_ms;
    uint64_t received; /* of the request's body, before the tunnel */
    enum logger_style style;
    size_t len, ngaps;
    struct logger_gap gaps[]; /* and behind them the text */
};

static struct mk_str text_of(const struct held *h)
{
    return (struct mk_str){(const char *)&h->gaps[h->ngaps], h->len};
}

/* ---- its end ---- */

struct late {
    const struct held *held;
    struct logger_entry entry;
};

/* logger_line_fn */
static void write_late(const void *arg, struct logger_text *t)
{
    const struct late *late = arg;

    logger_format_late(text_of(late->held), late->held->gaps, late->held->ngaps, &late->entry, t);
}

/* What gathers the worker's lines belongs to a configuration, which may have gone. */
static void write_line(const struct held *h, const struct late *late)
{
    struct logger_gather *g = logger_gather_new(h->pipe, 1);

    if (g)
        logger_gather_line(g, 0, h->target, write_late, late);
    else
        logger_target_lost(h->target, 1);
    logger_gather_free(g);
}

/* mk_taken_fn */
static void on_end(void *arg, const struct mk_taken *taken)
{
    struct held *h = arg;
    const struct mk_request_facts facts = {.size = sizeof(facts),
                                           .body_sent = taken->sent,
                                           .body_received = h->received + taken->received,
                                           .whole = taken->whole};
    struct logger_texts texts = {.at_s = 0};
    struct late late = {.held = h, .entry = {.facts = &facts}};

    logger_line_times(&late.entry, h->style, h->worker, h->began_ms, &texts);
    write_line(h, &late);
    logger_target_put(h->sink, h->target);
    logger_sink_put(h->sink);
    free(h);
}

/* ---- its beginning ---- */

static struct held *new_held(const struct logger_line *line)
{
    char room[LOGGER_LINE_MAX];
    struct logger_text t = {.at = room, .end = room + sizeof(room) - LOGGER_CUT};
    struct logger_gaps gaps;
    struct held *h;
    size_t len;

    logger_format_early(line->format, &line->entry, &t, &gaps);
    if (t.full)
        logger_put_cut(&t);
    len = (size_t)(t.at - room);
    h = malloc(sizeof(*h) + gaps.count * sizeof(gaps.all[0]) + len);
    if (!h)
        return NULL;
    *h = (struct held){.worker = line->facts.worker,
                       .began_ms = line->facts.began_ms,
                       .received = line->facts.body_received,
                       .style = line->format->style,
                       .len = len,
                       .ngaps = gaps.count};
    memcpy(h->gaps, gaps.all, gaps.count * sizeof(gaps.all[0]));
    memcpy(&h->gaps[h->ngaps], room, len);
    return h;
}

int logger_held_begin(const struct logger_line *line, struct logger_sink *sink,
                      struct logger_pipe *pipe, struct logger_target *target)
{
    struct held *h = new_held(line);
    int err;

    if (!h)
        return MK_E_NOMEM;
    err = mk_request_on_taken_end(line->request, on_end, h);
    if (err < 0) {
        free(h);
        return err;
    }
    h->sink = logger_sink_get(sink);
    h->pipe = pipe;
    h->target = target;
    logger_target_get(sink, target);
    return 0;
}
