/* SPDX-License-Identifier: Apache-2.0 */
#include "counts.h"

#include <stdlib.h>
#include <string.h>

struct h2_counts *h2_counts_new(void)
{
    struct h2_counts *c = aligned_alloc(alignof(struct h2_counts), sizeof(*c));

    if (!c)
        return NULL;
    memset(c, 0, sizeof(*c));
    counted_init(&c->refs, 1);
    return c;
}

struct h2_counts *h2_counts_get(struct h2_counts *c)
{
    counted_get(&c->refs);
    return c;
}

void h2_counts_put(struct h2_counts *c)
{
    if (c && counted_put(&c->refs))
        free(c);
}

static const struct {
    const char *name, *help, *by;
    bool is_counter, is_brief;
} metrics[H2_COUNT_COUNT] = {
#define H2_COUNT_ROW(count, metric, counter, brief, who, sentence)                                 \
    [H2_COUNT_##count] = {"monkey_http2_" metric, sentence, who, counter, brief},
    H2_COUNTS(H2_COUNT_ROW)
#undef H2_COUNT_ROW
};

static uint64_t sum(const struct h2_counts *c, enum h2_count what)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < H2_COUNT_ROWS; i++)
        all += atomic_load_explicit(&c->rows[i].numbers[what], memory_order_relaxed);
    return all;
}

void h2_counts_tell(const struct h2_counts *c, mk_metric_fn tell, void *arg)
{
    for (unsigned i = 0; i < H2_COUNT_COUNT; i++) {
        struct mk_metric m = {
            .size = sizeof(m),
            .name = metrics[i].name,
            .help = metrics[i].help,
            .is_counter = metrics[i].is_counter,
            .is_brief = metrics[i].is_brief,
            .value = (double)sum(c, (enum h2_count)i),
        };

        if (metrics[i].by) {
            m.nlabels = 1;
            m.labels[0].name = "by";
            m.labels[0].value = mk_str_from(metrics[i].by);
        }
        tell(arg, &m);
    }
}
