/* SPDX-License-Identifier: Apache-2.0 */
#include "number.h"
#include "result.h"
#include "svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The report: one file without outside parts and without script. Plots over concurrency with every round as a dot and
 * the medians as a line, a table below each, then what happened within the runs of the first round.
 */

enum { TARGETS_MAX = 32, TIMELINES_MAX = 24 };

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>wr report</title>\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" "
    "content=\"light dark\"><style>\n"
    ":root{--bg:#fff;--fg:#222;--soft:#666;--grid:#ddd;--c0:#b5651d;--c1:#2f6f9f;--c2:#3d8b5f;--c3:"
    "#8a5a83;"
    "--c4:#b0413e;--c5:#7a7a1f;--c6:#1f7a7a;--c7:#555}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#181818;--fg:#ddd;--soft:#999;--grid:#383838;--"
    "c0:#e0a060;"
    "--c1:#7fb8e0;--c2:#7fcf9f;--c3:#cf9fc8;--c4:#f08a86;--c5:#d0d070;--c6:#70d0d0;--c7:#bbb}}\n"
    "@media print{:root{--bg:#fff;--fg:#000;--soft:#444;--grid:#ccc}figure{break-inside:avoid}}\n"
    "body{background:var(--bg);color:var(--fg);font:15px/1.45 "
    "system-ui,sans-serif;max-width:72em;margin:2em auto;"
    "padding:0 "
    "1em}h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}code{overflow-wrap:anywhere}\n"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30em),1fr));gap:1."
    "5em}"
    "figure{margin:0;min-width:0;overflow-x:auto}figcaption{font-weight:600}\n"
    "svg{width:100%;height:auto}svg text{fill:var(--soft);font-size:12px}.grid{stroke:var(--grid)}"
    ".line{fill:none;stroke:currentColor;stroke-width:2}circle{fill:currentColor}.dot{opacity:.45}"
    "\n"
    "table{border-collapse:collapse;font-size:13px}td,th{padding:.1em "
    ".7em;text-align:right;border-bottom:1px solid "
    "var(--grid)}td:first-child,th:first-child{text-align:left}.soft{color:var(--soft)}\n"
    ".key "
    "span{margin-right:1.2em;font-weight:600}.c0{color:var(--c0)}.c1{color:var(--c1)}.c2{color:var("
    "--c2)}"
    ".c3{color:var(--c3)}.c4{color:var(--c4)}.c5{color:var(--c5)}.c6{color:var(--c6)}.c7{color:var("
    "--c7)}\n"
    "</style></head><body>\n";

struct names {
    const char *items[TARGETS_MAX];
    size_t count;
};

static struct names names_of(const struct runs *all)
{
    struct names n = {.count = 0};

    for (size_t i = 0; i < all->count; i++) {
        size_t at = 0;

        while (at < n.count && strcmp(n.items[at], all->items[i].target) != 0)
            at++;
        if (at == n.count && n.count < TARGETS_MAX)
            n.items[n.count++] = all->items[i].target;
    }
    return n;
}

static void key(FILE *to, const struct names *n)
{
    (void)fputs("<p class=\"key\">", to);
    for (size_t i = 0; i < n->count; i++) {
        (void)fprintf(to, "<span class=\"c%zu\">&#9679; ", i % SVG_COLOURS);
        html_text(to, n->items[i]);
        (void)fputs("</span>", to);
    }
    (void)fputs("</p>\n", to);
}

/* ---- over concurrency ---- */

/* Points of all rounds; sorted by concurrency because each round goes through the steps in order. */
static size_t dots_of(const struct runs *all, const char *target, enum wr_figure f, double unit,
                      struct svg_point *dots)
{
    size_t count = 0;

    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i].target, target) == 0 && !isnan(all->items[i].figures[f]))
            dots[count++] =
                (struct svg_point){all->items[i].concurrency, all->items[i].figures[f] / unit};
    return count;
}

static int by_x(const void *a, const void *b)
{
    const struct svg_point *p = a, *q = b;

    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->y > q->y) - (p->y < q->y);
}

/* Dots are sorted by x and y, so the middle of those with one x is the median. @return how many x there are */
static size_t medians_of(struct svg_point *dots, size_t count, struct svg_point *line)
{
    size_t lines = 0;

    qsort(dots, count, sizeof(*dots), by_x);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && dots[end].x == dots[i].x;)
            end++;
        line[lines++] =
            (struct svg_point){dots[i].x, (dots[(i + end) / 2].y + dots[(i + end - 1) / 2].y) / 2};
    }
    return lines;
}

static void table_row(FILE *to, const struct svg_series *s, size_t at)
{
    double low = INFINITY, high = 0;
    char a[16], b[16], c[16], x[16];

    for (size_t i = 0; i < s->ndots; i++)
        if (s->dots[i].x == s->line[at].x) {
            low = number_smaller(s->dots[i].y, low);
            high = number_larger(s->dots[i].y, high);
        }
    (void)fputs("<tr><td>", to);
    html_text(to, s->name);
    (void)fprintf(to, "</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>",
                  svg_number(s->line[at].x, x), svg_number(s->line[at].y, a), svg_number(low, b),
                  svg_number(high, c));
}

static void figure(FILE *to, const struct svg_axes *axes, const struct svg_series *series,
                   size_t count)
{
    (void)fputs("<figure><figcaption>", to);
    html_text(to, axes->title);
    (void)fputs("</figcaption>", to);
    svg_plot(to, axes, series, count);
    (void)fputs("<details><summary "
                "class=\"soft\">figures</summary><table><tr><th>target</th><th>clients</th>"
                "<th>median</th><th>least</th><th>most</th></tr>",
                to);
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; at < series[i].nline; at++)
            table_row(to, &series[i], at);
    (void)fputs("</table></details></figure>\n", to);
}

static void plot_figure(FILE *to, const struct runs *all, const struct names *n, enum wr_figure f,
                        const struct svg_axes *axes, double unit)
{
    struct svg_series series[TARGETS_MAX];
    struct svg_point *points = calloc(2 * n->count * all->count, sizeof(*points));
    size_t known = 0;

    for (size_t i = 0; points && i < n->count; i++) {
        struct svg_series *s = &series[i];

        *s = (struct svg_series){.name = n->items[i], .dots = points + 2 * i * all->count};
        s->line = s->dots + all->count;
        s->ndots = dots_of(all, s->name, f, unit, s->dots);
        s->nline = medians_of(s->dots, s->ndots, s->line);
        known += s->ndots;
    }
    if (known > 0)
        figure(to, axes, series, n->count);
    free(points);
}

static void plots(FILE *to, const struct runs *all, const struct names *n)
{
    static const struct {
        enum wr_figure figure;
        struct svg_axes axes;
        double unit;
    } rows[] = {
        {WR_F_CPU_A_REQUEST, {"CPU a request", "clients", "us"}, 1},
        {WR_F_RATE, {"Requests a second", "clients", "requests/s"}, 1},
        {WR_F_RSS_PEAK, {"Resident memory, peak", "clients", "MB"}, 1024},
        {WR_F_PRIVATE, {"Private memory after the run", "clients", "MB"}, 1024},
        {WR_F_P50, {"Median latency", "clients", "ms"}, 1000},
        {WR_F_P99, {"Latency, 99th percentile", "clients", "ms"}, 1000},
        {WR_F_CPU, {"CPU of the run", "clients", "ms"}, 1},
        {WR_F_ERRORS, {"Errors", "clients", "errors"}, 1},
    };

    (void)fputs("<h2>Over the number of clients</h2>\n<div class=\"plots\">\n", to);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        plot_figure(to, all, n, rows[i].figure, &rows[i].axes, rows[i].unit);
    (void)fputs("</div>\n", to);
}

/* ---- within the runs ---- */

static void timeline(FILE *to, const struct run *r, bool is_memory, struct svg_point *points)
{
    char title[128];
    struct svg_series s = {.name = r->target, .line = points};
    struct svg_axes axes = {
        .title = title, .x = "seconds", .y = is_memory ? "MB resident" : "cores"};

    (void)snprintf(title, sizeof(title), "%.60s, %d clients", r->target, r->concurrency);
    for (size_t i = is_memory ? 0 : 1; i < r->nsamples; i++) {
        const struct sample *now = &r->samples[i], *before = now - !is_memory;
        double y = is_memory ? now->rss_kb / 1024.0 : (double)(now->cpu_ms - before->cpu_ms);

        if (!is_memory && now->at_ms - before->at_ms < 5) /* too short to be a rate */
            continue;
        points[s.nline++] =
            (struct svg_point){now->at_ms / 1e3, is_memory ? y : y / (now->at_ms - before->at_ms)};
    }
    (void)fputs("<figure><figcaption>", to);
    html_text(to, title);
    (void)fputs("</figcaption>", to);
    svg_plot(to, &axes, &s, 1);
    (void)fputs("</figure>\n", to);
}

static void timelines(FILE *to, const struct runs *all)
{
    size_t shown = 0;

    (void)fputs("<h2>Within the runs of the first round</h2>\n<div class=\"plots\">\n", to);
    for (size_t i = 0; i < all->count && shown < TIMELINES_MAX; i++) {
        const struct run *r = &all->items[i];
        struct svg_point *points = calloc(r->nsamples + 1, sizeof(*points));

        if (points && r->round <= 1 && r->nsamples > 2) {
            timeline(to, r, false, points);
            timeline(to, r, true, points);
            shown++;
        }
        free(points);
    }
    (void)fputs("</div>\n", to);
}

/* ---- in words ---- */

static void facts(FILE *to, const struct result *r)
{
    (void)fputs("<p class=\"soft\">", to);
    for (int f = 0; f < WR_FACT_COUNT; f++)
        if (r->machine.facts[f][0]) {
            (void)fprintf(to, "%s%s ", f ? "; " : "", wr_fact_name(f));
            html_text(to, r->machine.facts[f]);
        }
    (void)fputs("</p>\n", to);
}

static void doubts(FILE *to, const struct runs *all)
{
    size_t counts[WR_FLAG_COUNT] = {0};
    bool has_service_times = false;

    for (size_t i = 0; i < all->count; i++) {
        for (int f = 0; f < WR_FLAG_COUNT; f++)
            counts[f] += all->items[i].flags >> f & 1;
        has_service_times |= !isnan(all->items[i].figures[WR_F_P99]) && !all->items[i].is_open_loop;
    }
    (void)fputs("<ul>\n", to);
    for (int f = 0; f < WR_FLAG_COUNT; f++)
        if (counts[f])
            (void)fprintf(to, "<li>%zu of %zu runs: %s</li>\n", counts[f], all->count,
                          wr_flag_sentence(f));
    if (has_service_times)
        (void)fputs("<li>Latencies are service times: the generator asks again only after an "
                    "answer, and so asks a "
                    "server that stalls less often.</li>\n",
                    to);
    (void)fputs("</ul>\n", to);
}

void result_html(FILE *to, const struct result *r)
{
    struct names n = names_of(&r->runs);

    (void)fputs(head, to);
    (void)fputs("<h1>What the server cost</h1>\n<p><code>", to);
    html_text(to, r->command);
    (void)fputs("</code></p>\n", to);
    facts(to, r);
    doubts(to, &r->runs);
    key(to, &n);
    plots(to, &r->runs, &n);
    timelines(to, &r->runs);
    (void)fputs("</body></html>\n", to);
}
