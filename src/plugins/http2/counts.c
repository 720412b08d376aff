/* SPDX-License-Identifier: Apache-2.0 */
#include "counts.h"

#include <stdlib.h>
#include <string.h>

struct http2_counts *http2_counts_new(void)
{
    struct http2_counts *c = aligned_alloc(alignof(struct http2_counts), sizeof(*c));

    if (!c)
        return NULL;
    memset(c, 0, sizeof(*c));
    counted_init(&c->refs, 1);
    return c;
}

struct http2_counts *http2_counts_get(struct http2_counts *c)
{
    counted_get(&c->refs);
    return c;
}

void http2_counts_put(struct http2_counts *c)
{
    if (c && counted_put(&c->refs))
        free(c);
}

static const struct {
    const char *name, *help, *by;
    bool is_counter, is_brief;
} metrics[HTTP2_COUNT_COUNT] = {
#define HTTP2_COUNT_ROW(count, metric, counter, brief, who, sentence)                              \
    [HTTP2_COUNT_##count] = {"monkey_http2_" metric, sentence, who, counter, brief},
    HTTP2_COUNTS(HTTP2_COUNT_ROW)
#undef HTTP2_COUNT_ROW
};

static uint64_t sum(const struct http2_counts *c, enum http2_count what)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < HTTP2_COUNT_ROWS; i++)
        all += atomic_load_explicit(&c->rows[i].numbers[what], memory_order_relaxed);
    return all;
}

void http2_counts_tell(const struct http2_counts *c, mk_metric_fn tell, void *arg)
{
    for (unsigned i = 0; i < HTTP2_COUNT_COUNT; i++) {
        struct mk_metric m = {
            .size = sizeof(m),
            .name = metrics[i].name,
            .help = metrics[i].help,
            .is_counter = metrics[i].is_counter,
            .is_brief = metrics[i].is_brief,
            .value = (double)sum(c, (enum http2_count)i),
        };

        if (metrics[i].by) {
            m.nlabels = 1;
            m.labels[0].name = "by";
            m.labels[0].value = mk_str_from(metrics[i].by);
        }
        tell(arg, &m);
    }
}
