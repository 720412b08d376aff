/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"

#include "stats.h"

#include <math.h>
#include <string.h>

enum { VALUES_MAX = 1024 };

struct tally {
    size_t worse, compared;
};

static bool is_same_case(const struct run *a, const struct run *b)
{
    return a->concurrency == b->concurrency && strcmp(a->target, b->target) == 0;
}

/* Runs that say nothing of the server are left out. */
static size_t values_of(const struct runs *all, const struct run *like, enum wr_figure f,
                        double *values)
{
    const unsigned broken =
        1U << WR_FLAG_FAILED | 1U << WR_FLAG_CUT | 1U << WR_FLAG_DIED | 1U << WR_FLAG_TRACED;
    size_t count = 0;

    for (size_t i = 0; i < all->count && count < VALUES_MAX; i++) {
        const struct run *r = &all->items[i];
        bool is_bound = f == WR_F_RATE && r->flags & 1U << WR_FLAG_CLIENT_BOUND;

        if (is_same_case(r, like) && !isnan(r->figures[f]) && !(r->flags & broken) && !is_bound)
            values[count++] = r->figures[f];
    }
    return count;
}

static const char *verdict_of(struct interval i, enum wr_better better, struct tally *t)
{
    if (i.low > 1 || i.high < 1) {
        t->worse += (i.low > 1) == (better == WR_LESS);
        return i.low > 1 ? "more" : "less";
    }
    return "no difference seen";
}

static void compare_figure(FILE *to, const struct result *a, const struct result *b,
                           const struct run *like, enum wr_figure f, struct tally *t)
{
    static double before[VALUES_MAX], after[VALUES_MAX];
    size_t nbefore = values_of(&a->runs, like, f, before),
           nafter = values_of(&b->runs, like, f, after);
    struct interval i;

    if (nbefore == 0 || nafter == 0)
        return;
    (void)fprintf(to, "%-16.15s%6d  %-22s%14.6g%14.6g  ", like->target, like->concurrency,
                  wr_figure_name(f), stats_median(before, nbefore), stats_median(after, nafter));
    if (!stats_ratio(before, nbefore, after, nafter, &i)) {
        /* Errors where there were none need no statistics. */
        bool is_new_error = f == WR_F_ERRORS && before[nbefore - 1] == 0 && after[0] > 0;

        t->worse += is_new_error;
        t->compared += is_new_error;
        (void)fputs(is_new_error ? "more\n" : "not comparable\n", to);
        return;
    }
    t->compared++;
    (void)fprintf(to, "%s (%.3f to %.3f)\n", verdict_of(i, wr_figure_better(f), t), i.low, i.high);
}

static bool is_first_of_case(const struct runs *all, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (is_same_case(&all->items[i], &all->items[at]))
            return false;
    return true;
}

static bool is_tool_other(const struct runs *a, const struct runs *b)
{
    const char *x = a->count > 0 ? a->items[0].tool : NULL,
               *y = b->count > 0 ? b->items[0].tool : NULL;

    return x && y ? strcmp(x, y) != 0 : x != y;
}

/* @return what differs, or NULL */
static const char *difference(const struct result *a, const struct result *b)
{
    static const enum wr_fact facts[] = {WR_FACT_CPU, WR_FACT_CORES, WR_FACT_KERNEL};

    for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
        if (strcmp(a->machine.facts[facts[i]], b->machine.facts[facts[i]]) != 0)
            return wr_fact_name(facts[i]);
    return is_tool_other(&a->runs, &b->runs) ? "client" : NULL;
}

enum compare_exit compare_results(FILE *to, const struct result *a, const struct result *b,
                                  bool is_forced)
{
    const char *other = difference(a, b);
    struct tally t = {0};

    if (other && !is_forced) {
        (void)fprintf(to, "not comparable: %s is another; --force compares all the same\n", other);
        return COMPARE_CANNOT_TELL;
    }
    (void)fprintf(to, "%-16s%6s  %-22s%14s%14s  %s\n", "target", "conc", "figure", "before",
                  "after", "after / before");
    for (size_t i = 0; i < a->runs.count; i++)
        for (int f = 0; f < WR_FIGURE_COUNT; f++)
            if (wr_figure_better(f) != WR_NONE && is_first_of_case(&a->runs, i))
                compare_figure(to, a, b, &a->runs.items[i], (enum wr_figure)f, &t);
    if (t.compared == 0)
        (void)fputs(
            "cannot tell: it takes five rounds of the same target and concurrency in both\n", to);
    return t.worse ? COMPARE_WORSE : t.compared ? COMPARE_SAME : COMPARE_CANNOT_TELL;
}
