/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <math.h>

static const struct {
    unsigned char figure, digits;
    short unit;
    char title[12];
} columns[] = {
    {WR_F_RATE, 0, 1, "req/s"},
    {WR_F_ERRORS, 0, 1, "errors"},
    {WR_F_CPU_A_REQUEST, 1, 1, "CPU us/req"},
    {WR_F_CPU, 0, 1, "CPU ms"},
    {WR_F_USER, 0, 1, "user"},
    {WR_F_KERNEL, 0, 1, "kernel"},
    {WR_F_RSS_PEAK, 0, 1, "RSS peak KB"},
    {WR_F_PRIVATE, 0, 1, "private KB"},
    {WR_F_P99, 2, 1000, "p99 ms"},
};

enum { COLUMNS = sizeof(columns) / sizeof(*columns) };

void table_head(FILE *to)
{
    (void)fprintf(to, "%-16s%6s%6s", "target", "conc", "round");
    for (size_t i = 0; i < COLUMNS; i++)
        (void)fprintf(to, "%12s", columns[i].title);
    (void)fputs("\n", to);
}

void table_row(FILE *to, const struct run *r)
{
    (void)fprintf(to, "%-16.15s%6d%6d", r->target, r->concurrency, r->round);
    for (size_t i = 0; i < COLUMNS; i++) {
        double value = r->figures[columns[i].figure];

        if (isnan(value))
            (void)fprintf(to, "%12s", "-");
        else
            (void)fprintf(to, "%12.*f", columns[i].digits, value / columns[i].unit);
    }
    for (int f = 0; f < WR_FLAG_COUNT; f++)
        if (r->flags & 1U << f)
            (void)fprintf(to, "  %s", wr_flag_name(f));
    (void)fputs("\n", to);
    (void)fflush(to);
}

static bool is_known(const struct runs *all, enum wr_figure f)
{
    for (size_t i = 0; i < all->count; i++)
        if (!isnan(all->items[i].figures[f]))
            return true;
    return all->count == 0;
}

/* What every run lacks is said once; what only some generators say, and what was not asked for, is no lack. */
static void say_what_is_missing(FILE *to, const struct runs *all, const bool *asks)
{
    const char *before = "not readable here, and left out: ";

    for (int f = WR_F_CPU; f <= WR_F_CALLS; f++)
        if ((f <= WR_F_DESCRIPTORS || asks[f]) && !is_known(all, (enum wr_figure)f)) {
            (void)fprintf(to, "%s%s", before, wr_figure_name(f));
            before = ", ";
        }
    if (before[0] == ',')
        (void)fputs("\n", to);
}

/* Runs of several targets at once have the same figure, and the same window. */
static void say_own_cost(FILE *to, const struct runs *all)
{
    double own_ms = 0, window_ms = 0;

    for (size_t i = 0; i < all->count; i++) {
        own_ms += all->items[i].figures[WR_F_WR_CPU];
        window_ms += all->items[i].figures[WR_F_WINDOW] * 1e3;
    }
    if (window_ms > 0)
        (void)fprintf(to, "wr itself used %.2f %% of a core.\n", own_ms / window_ms * 100);
}

void table_foot(FILE *to, const struct runs *all, const bool *asks)
{
    unsigned flags = 0;
    bool has_latencies = false;

    for (size_t i = 0; i < all->count; i++) {
        flags |= all->items[i].flags;
        has_latencies |= !isnan(all->items[i].figures[WR_F_P99]) && !all->items[i].is_open_loop;
    }
    for (int f = 0; f < WR_FLAG_COUNT; f++)
        if (flags & 1U << f)
            (void)fprintf(to, "%s: %s\n", wr_flag_name(f), wr_flag_sentence(f));
    if (has_latencies)
        (void)fputs("Latencies are service times: the generator asks again only after an answer.\n",
                    to);
    say_what_is_missing(to, all, asks);
    say_own_cost(to, all);
}

void table_all(FILE *to, const struct run *r)
{
    for (int f = 0; f < WR_FIGURE_COUNT; f++)
        if (!isnan(r->figures[f]))
            (void)fprintf(to, "  %-22s%16.*f  %s\n", wr_figure_name(f),
                          r->figures[f] < 1000 ? 2 : 0, r->figures[f], wr_figure_meaning(f));
    if (r->calls)
        (void)fprintf(to, "  %s\n", r->calls);
}
