/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/facts.h"

#include "backends/backend_int.h"

#include "kit/clock/clock.h"

static uint64_t load_counter(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Where checks decide, the next one is the next try. */
static int64_t until_check(const struct proxy_backend *b, int64_t ago_ms)
{
    return ago_ms >= 0 && ago_ms < b->check_ms ? b->check_ms - ago_ms : 0;
}

/* What latencies are counted of: this minute so far, and the one before. */
static int64_t window_ms(int64_t now_ms)
{
    return LATENCY_WINDOW_MS + now_ms % LATENCY_WINDOW_MS;
}

unsigned proxy_facts_count(const struct proxy_entry *entry)
{
    return entry->group->n;
}

void proxy_facts(const struct proxy_entry *entry, unsigned i, struct proxy_facts *facts)
{
    const struct proxy_backend *b = entry->group->backends[i];
    struct proxy_state *s = b->state;
    int64_t now_ms = clock_tick_ms();

    *facts = (struct proxy_facts){
        .name = b->name,
        .weight = entry->set->servers[i].weight,
        .is_backup = entry->set->servers[i].is_backup,
        .is_drained = proxy_backend_is_drained(b),
        .active = atomic_load_explicit(&s->active, memory_order_relaxed),
        .requests = load_counter(&s->count.requests),
        .failures = proxy_failures(&s->count),
        .refused = load_counter(&s->count.refused),
        .broke = load_counter(&s->count.broke),
        .repeated = load_counter(&s->count.repeated),
        .probes = load_counter(&s->count.probes),
        .checks = load_counter(&s->count.checks),
        .failed_checks = load_counter(&s->count.failed_checks),
        .sent = load_counter(&s->count.sent),
        .received = load_counter(&s->count.received),
    };
    for (unsigned class = 0; class < 6; class ++)
        facts->status[class] = load_counter(&s->count.status[class]);
    proxy_health_guard_facts(&s->health, &b->rules, now_ms, &facts->health);
    if (facts->health.state == HEALTH_OFFLINE && b->rules.is_checked)
        facts->health.wait_ms = until_check(b, facts->health.check_ago_ms);
    proxy_latency_facts(&s->latency, now_ms, &facts->latency);
    facts->rate = (double)facts->latency.count * 1000 / (double)window_ms(now_ms);
    mk_upstream_load(proxy_backend_upstream(b), &facts->open, &facts->idle, &facts->waiting);
}
