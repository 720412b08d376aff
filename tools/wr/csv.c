/* SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

#include <math.h>

static void text(FILE *to, const char *s)
{
    (void)fputc('"', to);
    for (; *s; s++) {
        if (*s == '"')
            (void)fputc('"', to);
        (void)fputc(*s, to);
    }
    (void)fputc('"', to);
}

static void line(FILE *to, const struct run *r, double at_ms, const char *metric, double value)
{
    (void)fprintf(to, "%d,%d,", r->round, r->order);
    text(to, r->target);
    (void)fprintf(to, ",%d,%.0f,%s,%.10g\r\n", r->concurrency, at_ms, metric, value);
}

void result_csv(FILE *to, const struct result *all)
{
    (void)fputs("round,order,target,concurrency,t_ms,metric,value\r\n", to);
    for (size_t i = 0; i < all->runs.count; i++) {
        const struct run *r = &all->runs.items[i];

        for (size_t s = 0; s < r->nsamples; s++) {
            line(to, r, r->samples[s].at_ms, "cpu_ms_so_far", r->samples[s].cpu_ms);
            line(to, r, r->samples[s].at_ms, "rss_kb", r->samples[s].rss_kb);
        }
        for (int f = 0; f < WR_FIGURE_COUNT; f++)
            if (!isnan(r->figures[f]))
                line(to, r, r->figures[WR_F_WINDOW] * 1e3, wr_figure_name(f), r->figures[f]);
    }
}
