/* SPDX-License-Identifier: Apache-2.0 */
#include "statistics/statistics_int.h"

#include <monkey/server.h>

#include <inttypes.h>

/* One page without anything from outside: a table for each entry, whose rows become cards on a narrow screen. */

static const char top[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<title>Backends</title>\n";

static const char style[] =
    "<style>\n"
    ":root{--bg:#fbf8f1;--card:#fffdf8;--text:#2a241d;--dim:#645a4c;--line:#e2d8c3;--good:#1c7443;"
    "--bad:#b3261e;--wait:#8a4b08;--link:#8a4b08;--sun:#f4b942}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#181512;--card:#26211c;--text:#efe8dc;"
    "--dim:#b8ac9a;--line:#3a332a;--good:#8fd0a0;--bad:#ff8a80;--wait:#f4b95a;--link:#f4b95a;"
    "--sun:#c98a1b}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;padding:1.5rem;background:var(--bg);color:var(--text);"
    "font:15px/1.45 system-ui,sans-serif}\n"
    "main{max-width:76rem;margin:auto}\n"
    "header{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:baseline;"
    "border-top:5px solid var(--sun);padding-top:1rem}\n"
    "dl{display:flex;flex-wrap:wrap;gap:.75rem 2rem;margin:1rem 0 "
    "0}\ndt{color:var(--dim);font-size:.85rem}\n"
    "dd{margin:0;font-size:1.3rem;font-weight:600;font-variant-numeric:tabular-nums}\n"
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

enum column {
    BACKEND,
    STATE,
    ACTIVE,
    OPEN,
    WAITING,
    REQUESTS,
    RATE,
    FAILURES,
    LAST_CHECK,
    NEXT_TRY,
    P50,
    P90,
    P99,
};

static const char *const titles[] = {
    [BACKEND] = "Backend",   [STATE] = "State",       [ACTIVE] = "Active",
    [OPEN] = "Open / idle",  [WAITING] = "Waiting",   [REQUESTS] = "Requests",
    [RATE] = "Per second",   [FAILURES] = "Failures", [LAST_CHECK] = "Last check",
    [NEXT_TRY] = "Next try", [P50] = "p50",           [P90] = "p90",
    [P99] = "p99",
};

struct totals {
    unsigned backends, up, active, waiting, open;
    uint64_t requests, failures, sent, received;
    double rate;
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

static void state(struct page *page, const struct proxy_facts *f)
{
    const struct health_facts *h = &f->health;

    open_cell(page, STATE);
    page_printf(page, "<b class=\"%s\">%s", proxy_health_name(h->state),
                proxy_health_name(h->state));
    if (h->state == HEALTH_RETURNING)
        page_printf(page, " %u%%", h->share / 10);
    page_put(page, f->is_drained ? "</b> <span class=\"dim\">drained</span></td>" : "</b></td>");
}

static void last_check(struct page *page, const struct health_facts *h)
{
    if (h->check_ago_ms < 0) {
        none(page, LAST_CHECK);
        return;
    }
    open_cell(page, LAST_CHECK);
    page_printf(page, "<span><span class=\"%s\">%s</span> %" PRId64 " s ago</span></td>",
                h->check_was_good ? "up" : "offline", h->check_was_good ? "good" : "failed",
                h->check_ago_ms / 1000);
}

static void next_try(struct page *page, const struct health_facts *h)
{
    if (h->state != HEALTH_OFFLINE) {
        none(page, NEXT_TRY);
        return;
    }
    open_cell(page, NEXT_TRY);
    if (h->wait_ms > 0)
        page_printf(page, "in %" PRId64 " s</td>", (h->wait_ms + 999) / 1000);
    else
        page_put(page, "now</td>");
}

/* ---- rows ---- */

static void write_backend(struct page *page, const struct proxy_entry *e, unsigned i)
{
    struct proxy_facts f;

    proxy_facts(e, i, &f);
    page_put(page, "<tr>");
    open_cell(page, BACKEND);
    page_put(page, "<span>");
    page_html(page, mk_str_from(f.name));
    if (f.weight > 1)
        page_printf(page, " <span class=\"dim\">&times;%u</span>", f.weight);
    if (f.is_backup)
        page_put(page, " <span class=\"dim\">backup</span>");
    page_put(page, "</span></td>");
    state(page, &f);
    number(page, ACTIVE, f.active);
    open_cell(page, OPEN);
    page_printf(page, "%u / %u</td>", f.open, f.idle);
    number(page, WAITING, f.waiting);
    number(page, REQUESTS, f.requests);
    open_cell(page, RATE);
    page_printf(page, "%.1f</td>", f.rate);
    number(page, FAILURES, f.failures);
    last_check(page, &f.health);
    next_try(page, &f.health);
    latency(page, P50, f.latency.count, f.latency.p50_us);
    latency(page, P90, f.latency.count, f.latency.p90_us);
    latency(page, P99, f.latency.count, f.latency.p99_us);
    page_put(page, "</tr>\n");
}

static void write_entry(struct page *page, const struct proxy_entry *e)
{
    page_put(page, "<section>\n<div><h2>");
    page_html(page, mk_str_from(e->name));
    page_printf(page, "</h2><span class=\"dim\">%s</span></div>\n<table>\n<thead><tr>",
                proxy_balancer_names[e->set->balancer]);
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
        page_printf(page, "<th scope=\"col\">%s</th>", titles[i]);
    page_put(page, "</tr></thead>\n<tbody>\n");
    for (unsigned i = 0; i < proxy_facts_count(e); i++)
        write_backend(page, e, i);
    page_put(page, "</tbody>\n</table>\n</section>\n");
}

/* ---- the whole ---- */

static struct totals add_up(const struct proxy_view *view)
{
    const struct proxy_entry *e = NULL;
    struct totals t = {0};

    while ((e = proxy_view_next(view, e))) {
        for (unsigned i = 0; i < proxy_facts_count(e); i++) {
            struct proxy_facts f;

            proxy_facts(e, i, &f);
            t.backends++;
            t.up += f.health.state == HEALTH_UP;
            t.active += f.active;
            t.waiting += f.waiting;
            t.open += f.open;
            t.requests += f.requests;
            t.failures += f.failures;
            t.sent += f.sent;
            t.received += f.received;
            t.rate += f.rate;
        }
    }
    return t;
}

static void bytes(struct page *page, uint64_t value)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
    double v = (double)value;
    unsigned unit = 0;

    for (; v >= 1024 && unit < 5; unit++)
        v /= 1024;
    page_printf(page, unit > 0 && v < 100 ? "%.1f %s" : "%.0f %s", v, units[unit]);
}

static void write_totals(struct page *page, const struct totals *t)
{
    page_printf(page,
                "<dl>\n<div><dt>Backends up</dt><dd>%u of %u</dd></div>\n"
                "<div><dt>Requests</dt><dd>%" PRIu64 "</dd></div>\n"
                "<div><dt>Per second</dt><dd>%.1f</dd></div>\n"
                "<div><dt>Failures</dt><dd>%" PRIu64 "</dd></div>\n",
                t->up, t->backends, t->requests, t->rate, t->failures);
    page_printf(page,
                "<div><dt>Active</dt><dd>%u</dd></div>\n<div><dt>Waiting</dt><dd>%u</dd></div>\n"
                "<div><dt>Connections</dt><dd>%u</dd></div>\n",
                t->active, t->waiting, t->open);
    page_put(page, "<div><dt>To backends</dt><dd>");
    bytes(page, t->sent);
    page_put(page, "</dd></div>\n<div><dt>From backends</dt><dd>");
    bytes(page, t->received);
    page_put(page, "</dd></div>\n</dl>\n");
}

/* Which server of several this is, and since when it counts. */
static void write_server(struct page *page, const struct proxy_view *view)
{
    int64_t up_s = view->uptime_ms / 1000;

    page_put(page, "<strong>");
    page_html(page, mk_str_from(view->host));
    page_printf(page, "</strong><span class=\"dim\">Monkey %s, up ", mk_version());
    if (up_s >= 86400)
        page_printf(page, "%" PRId64 " d ", up_s / 86400);
    page_printf(page, "%" PRId64 ":%02" PRId64 ":%02" PRId64 "</span>", up_s % 86400 / 3600,
                up_s % 3600 / 60, up_s % 60);
}

void proxy_write_html(const struct proxy_view *view, struct page *page)
{
    const struct totals totals = add_up(view);
    const struct proxy_entry *e = NULL;

    page_put(page, top);
    if (view->refresh)
        page_printf(page, "<meta http-equiv=\"refresh\" content=\"%u\">\n", view->refresh);
    page_put(page, style);
    page_put(page, "<header><h1>Backends</h1>");
    write_server(page, view);
    page_put(page, "<nav>");
    page_put(page, view->refresh ? "<a href=\"?\">stop refreshing</a>"
                                 : "<a href=\"?refresh=5\">refresh every 5 s</a>");
    page_put(page, " &middot; <a href=\"?format=json\">JSON</a></nav></header>\n");
    write_totals(page, &totals);
    while ((e = proxy_view_next(view, e)))
        write_entry(page, e);
    page_put(page,
             "<p class=\"dim\">Rates and latencies are of the last one to two minutes; latencies "
             "go to the head of an answer.</p>\n");
    page_put(page, "</main>\n</body>\n</html>\n");
}
