/* SPDX-License-Identifier: Apache-2.0 */
#include "statistics.h"

#include <inttypes.h>

/* One page without anything from outside: a table for each entry, whose rows become cards on a narrow screen. */

static const char top[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<title>Backends</title>\n";

static const char style[] =
    "<style>\n"
    ":root{--bg:#f6f7f9;--card:#fff;--text:#1c2530;--dim:#5b6877;--line:#e1e6ec;--good:#1a7f4b;"
    "--bad:#b3261e;--wait:#8a5a00;--link:#1558b0}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#12171d;--card:#1b222b;--text:#e4e9ef;"
    "--dim:#97a4b3;--line:#2c3641;--good:#5fd195;--bad:#ff8a80;--wait:#f0bf60;--link:#8ab8ff}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;padding:1.5rem;background:var(--bg);color:var(--text);"
    "font:15px/1.45 system-ui,sans-serif}\n"
    "main{max-width:76rem;margin:auto}\n"
    "header{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:baseline}\n"
    "h1{font-size:1.5rem;margin:0}\nheader nav{margin-left:auto}\na{color:var(--link)}\n"
    "section{background:var(--card);border:1px solid var(--line);border-radius:10px;"
    "margin-top:1.25rem;overflow:hidden}\n"
    "section>div{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:baseline;"
    "padding:.8rem 1rem;border-bottom:1px solid var(--line)}\n"
    "h2{font-size:1.1rem;margin:0;overflow-wrap:anywhere}\n.dim,th{color:var(--dim)}\n"
    "table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.5rem .6rem;text-align:right;white-space:nowrap}\n"
    "th{font-weight:500;font-size:.85rem}\n"
    "th:first-child,td:first-child,th:nth-child(2),td:nth-child(2){text-align:left}\n"
    "td:first-child{font-weight:600;white-space:normal;overflow-wrap:anywhere;padding-left:1rem}\n"
    "th:first-child{padding-left:1rem}\n"
    "tbody tr{border-top:1px solid var(--line)}\n"
    "b{font-weight:600}\nb::before{content:\"\";display:inline-block;width:.6em;height:.6em;"
    "border-radius:50%;background:currentColor;margin-right:.4em}\n"
    ".up{color:var(--good)}.offline{color:var(--bad)}.probing,.returning{color:var(--wait)}\n"
    "@media(max-width:60rem){body{padding:.75rem}thead{display:none}"
    "table,tbody{display:block}"
    "tbody tr{display:grid;grid-template-columns:1fr 1fr;gap:.15rem 1.2rem;padding:.7rem 1rem}\n"
    "td,td:first-child{display:flex;justify-content:space-between;gap:.6rem;padding:.1rem 0;"
    "text-align:right}\n"
    "td::before{content:attr(data-k);color:var(--dim);font-weight:400;text-align:left}\n"
    "td:first-child{font-size:1.05rem;grid-column:1}td:nth-child(2){justify-content:flex-end}\n"
    "td:first-child::before,td:nth-child(2)::before{content:none}}\n"
    "@media(max-width:30rem){td:nth-child(n+3){grid-column:1/-1}}\n"
    "</style>\n</head>\n<body>\n<main>\n";

static const char *const titles[] = {
    "Backend",  "State",      "Active",   "Open / idle", "Waiting", "Requests",
    "Failures", "Last check", "Next try", "p50",         "p90",     "p99",
};

/* ---- cells ---- */

static void open_cell(struct page *page, unsigned column)
{
    page_printf(page, "<td data-k=\"%s\">", titles[column]);
}

static void number(struct page *page, unsigned column, uint64_t value)
{
    open_cell(page, column);
    page_printf(page, "%" PRIu64 "</td>", value);
}

static void none(struct page *page, unsigned column)
{
    open_cell(page, column);
    page_put(page, "<span class=\"dim\">&ndash;</span></td>");
}

/* "340 us", "1.2 ms", "2.5 s" */
static void duration(struct page *page, uint64_t us)
{
    if (us < 1000)
        page_printf(page, "%" PRIu64 " &micro;s", us);
    else if (us < 1000000)
        page_printf(page, us < 100000 ? "%.1f ms" : "%.0f ms", (double)us / 1e3);
    else
        page_printf(page, "%.1f s", (double)us / 1e6);
}

static void latency(struct page *page, unsigned column, uint64_t count, uint64_t us)
{
    if (count == 0) {
        none(page, column);
        return;
    }
    open_cell(page, column);
    duration(page, us);
    page_put(page, "</td>");
}

static void state(struct page *page, const struct health_facts *h)
{
    open_cell(page, 1);
    page_printf(page, "<b class=\"%s\">%s", health_name(h->state), health_name(h->state));
    if (h->state == HEALTH_RETURNING)
        page_printf(page, " %u%%", h->share / 10);
    page_put(page, "</b></td>");
}

static void last_check(struct page *page, const struct health_facts *h)
{
    if (h->check_ago_ms < 0) {
        none(page, 7);
        return;
    }
    open_cell(page, 7);
    page_printf(page, "<span><span class=\"%s\">%s</span> %" PRId64 " s ago</span></td>",
                h->check_was_good ? "up" : "offline", h->check_was_good ? "good" : "failed",
                h->check_ago_ms / 1000);
}

static void next_try(struct page *page, const struct health_facts *h)
{
    if (h->state != HEALTH_OFFLINE) {
        none(page, 8);
        return;
    }
    open_cell(page, 8);
    if (h->wait_ms > 0)
        page_printf(page, "in %" PRId64 " s</td>", (h->wait_ms + 999) / 1000);
    else
        page_put(page, "now</td>");
}

/* ---- rows ---- */

static void write_backend(struct page *page, const struct proxy_backend *b, unsigned weight)
{
    struct proxy_facts f;

    proxy_facts(b, &f);
    page_put(page, "<tr>");
    open_cell(page, 0);
    page_put(page, "<span>");
    page_html(page, mk_str_from(b->name));
    if (weight > 1)
        page_printf(page, " <span class=\"dim\">&times;%u</span>", weight);
    page_put(page, "</span></td>");
    state(page, &f.health);
    number(page, 2, f.active);
    open_cell(page, 3);
    page_printf(page, "%u / %u</td>", f.open, f.idle);
    number(page, 4, f.waiting);
    number(page, 5, f.requests);
    number(page, 6, f.failures);
    last_check(page, &f.health);
    next_try(page, &f.health);
    latency(page, 9, f.latency.count, f.latency.p50_us);
    latency(page, 10, f.latency.count, f.latency.p90_us);
    latency(page, 11, f.latency.count, f.latency.p99_us);
    page_put(page, "</tr>\n");
}

static void write_entry(struct page *page, const struct proxy_entry *e)
{
    page_put(page, "<section>\n<div><h2>");
    page_html(page, mk_str_from(e->name));
    page_printf(page, "</h2><span class=\"dim\">%s</span></div>\n<table>\n<thead><tr>",
                balance_name((enum proxy_balancer)e->set->balancer));
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
        page_printf(page, "<th scope=\"col\">%s</th>", titles[i]);
    page_put(page, "</tr></thead>\n<tbody>\n");
    for (unsigned i = 0; i < e->group->n; i++)
        write_backend(page, e->group->backends[i], e->set->servers[i].weight);
    page_put(page, "</tbody>\n</table>\n</section>\n");
}

void proxy_write_html(const struct proxy_view *view, struct page *page)
{
    const struct proxy_entry *e = NULL;

    page_put(page, top);
    if (view->refresh)
        page_printf(page, "<meta http-equiv=\"refresh\" content=\"%u\">\n", view->refresh);
    page_put(page, style);
    page_put(page, "<header><h1>Backends</h1><span class=\"dim\">latencies of the last one to two "
                   "minutes, until the head of an answer</span><nav>");
    page_put(page, view->refresh ? "<a href=\"?\">stop refreshing</a>"
                                 : "<a href=\"?refresh=5\">refresh every 5 s</a>");
    page_put(page, " &middot; <a href=\"?format=json\">JSON</a></nav></header>\n");
    while ((e = proxy_view_next(view, e)))
        write_entry(page, e);
    page_put(page, "</main>\n</body>\n</html>\n");
}
