/* SPDX-License-Identifier: Apache-2.0 */
#include "statistics/statistics_int.h"

#include <monkey/server.h>

#include <inttypes.h>

static void write_health(struct page *page, const struct health_facts *h)
{
    page_member_text(page, "state", proxy_health_name(h->state));
    page_member_number(page, "share", h->share);
    page_member_number(page, "recent_failures", h->failures);
    page_member_number(page, "next_try_ms", (uint64_t)h->wait_ms);
    if (h->check_ago_ms < 0) {
        page_put(page, ", \"last_check\": null");
        return;
    }
    page_printf(page, ", \"last_check\": {\"good\": %s, \"ago_ms\": %" PRId64 "}",
                h->check_was_good ? "true" : "false", h->check_ago_ms);
}

static void write_latency(struct page *page, const struct latency_facts *l)
{
    page_printf(page,
                ", \"latency_us\": {\"count\": %" PRIu64 ", \"p50\": %" PRIu64 ", \"p90\": %" PRIu64
                ", \"p99\": %" PRIu64 ", \"max\": %" PRIu64 "}",
                l->count, l->p50_us, l->p90_us, l->p99_us, l->max_us);
}

static void write_backend(struct page *page, const struct proxy_entry *e, unsigned i)
{
    struct proxy_facts f;

    proxy_facts(e, i, &f);
    page_put(page, "{");
    page_member_text(page, "name", f.name);
    page_member_number(page, "weight", f.weight);
    page_printf(page, ", \"backup\": %s", f.is_backup ? "true" : "false");
    write_health(page, &f.health);
    page_printf(page, ", \"drained\": %s", f.is_drained ? "true" : "false");
    page_member_number(page, "active", f.active);
    page_member_number(page, "connections", f.open);
    page_member_number(page, "idle", f.idle);
    page_member_number(page, "waiting", f.waiting);
    page_member_number(page, "requests", f.requests);
    for (unsigned class = 1; class < 6; class ++)
        page_printf(page, ", \"answers_%uxx\": %" PRIu64, class, f.status[class]);
    page_member_number(page, "failures", f.failures);
    page_member_number(page, "refused", f.refused);
    page_member_number(page, "broke", f.broke);
    page_member_number(page, "repeated", f.repeated);
    page_member_number(page, "probes", f.probes);
    page_member_number(page, "checks", f.checks);
    page_member_number(page, "failed_checks", f.failed_checks);
    page_member_number(page, "bytes_sent", f.sent);
    page_member_number(page, "bytes_received", f.received);
    page_printf(page, ", \"requests_per_second\": %.2f", f.rate);
    write_latency(page, &f.latency);
    page_put(page, "}");
}

static void write_entry(struct page *page, const struct proxy_entry *e)
{
    page_put(page, "{");
    page_member_text(page, "name", e->name);
    page_member_text(page, "balancer", proxy_balancer_names[e->set->balancer]);
    page_put(page, ", \"backends\": [");
    for (unsigned i = 0; i < proxy_facts_count(e); i++) {
        page_put(page, i ? ",\n  " : "\n  ");
        write_backend(page, e, i);
    }
    page_put(page, "]}");
}

void proxy_write_json(const struct proxy_view *view, struct page *page)
{
    const struct proxy_entry *e = NULL;
    bool any = false;

    page_put(page, "{");
    page_member_text(page, "host", view->host);
    page_member_text(page, "version", mk_version());
    page_member_number(page, "uptime_s", (uint64_t)view->uptime_ms / 1000);
    page_put(page, ", \"entries\": [");
    while ((e = proxy_view_next(view, e))) {
        page_put(page, any ? ",\n " : "\n ");
        write_entry(page, e);
        any = true;
    }
    page_put(page, "]}\n");
}
