/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/health_guard.h"

#include <monkey/types.h>

int proxy_health_guard_init(struct health_guard *g)
{
    *g = (struct health_guard){.state = HEALTH_UP};
    return pthread_mutex_init(&g->lock, NULL) == 0 ? 0 : MK_E_NOMEM;
}

void proxy_health_guard_fini(struct health_guard *g)
{
    pthread_mutex_destroy(&g->lock);
}

static enum health_state peek(const struct health_guard *g)
{
    return (enum health_state)atomic_load_explicit(&g->state, memory_order_acquire);
}

static void lock(struct health_guard *g)
{
    pthread_mutex_lock(&g->lock);
}

/* @return how the state changed since it was before. */
static struct health_change unlock(struct health_guard *g, enum health_state before)
{
    enum health_state after = g->health.state;

    atomic_store_explicit(&g->state, (uint8_t)after, memory_order_release);
    atomic_store_explicit(&g->owes, g->health.failures > g->health.checks, memory_order_relaxed);
    pthread_mutex_unlock(&g->lock);
    return (struct health_change){before, after};
}

bool proxy_health_guard_may(struct health_guard *g, const struct health_rules *rules,
                            int64_t now_ms)
{
    enum health_state before = peek(g);
    bool may;

    if (before == HEALTH_UP || before == HEALTH_RETURNING)
        return true;
    lock(g);
    may = proxy_health_may(&g->health, rules, now_ms);
    (void)unlock(g, g->health.state);
    return may;
}

enum health_pass proxy_health_guard_admit(struct health_guard *g, const struct health_rules *rules,
                                          int64_t now_ms)
{
    enum health_pass pass;

    if (peek(g) == HEALTH_UP)
        return HEALTH_NORMAL;
    lock(g);
    pass = proxy_health_admit(&g->health, rules, now_ms);
    (void)unlock(g, g->health.state);
    return pass;
}

enum health_pass proxy_health_guard_admit_last(struct health_guard *g,
                                               const struct health_rules *rules)
{
    enum health_pass pass;

    lock(g);
    pass = proxy_health_admit_last(&g->health, rules);
    (void)unlock(g, g->health.state);
    return pass;
}

int64_t proxy_health_guard_until(struct health_guard *g)
{
    int64_t until_ms;

    lock(g);
    until_ms = g->health.until_ms;
    (void)unlock(g, g->health.state);
    return until_ms;
}

struct health_change proxy_health_guard_tell(struct health_guard *g,
                                             const struct health_rules *rules,
                                             enum health_pass pass, enum health_end end,
                                             int64_t now_ms)
{
    enum health_state before;
    bool owes = end == HEALTH_GOOD && atomic_load_explicit(&g->owes, memory_order_relaxed);

    if (pass == HEALTH_NORMAL && end != HEALTH_BAD && !owes && peek(g) == HEALTH_UP)
        return (struct health_change){HEALTH_UP, HEALTH_UP};
    lock(g);
    before = g->health.state;
    proxy_health_tell(&g->health, rules, pass, end, now_ms);
    return unlock(g, before);
}

struct health_change proxy_health_guard_tell_check(struct health_guard *g,
                                                   const struct health_rules *rules, bool is_good,
                                                   int64_t now_ms)
{
    enum health_state before;

    atomic_store_explicit(&g->last_end, is_good ? HEALTH_GOOD : HEALTH_BAD, memory_order_relaxed);
    atomic_store_explicit(&g->last_ms, (uint64_t)now_ms, memory_order_release);
    lock(g);
    before = g->health.state;
    proxy_health_tell_check(&g->health, rules, is_good, now_ms);
    return unlock(g, before);
}

unsigned proxy_health_guard_share(struct health_guard *g, const struct health_rules *rules,
                                  int64_t now_ms)
{
    unsigned share;

    if (peek(g) == HEALTH_UP)
        return 1000;
    lock(g);
    share = proxy_health_share(&g->health, rules, now_ms);
    (void)unlock(g, g->health.state);
    return share;
}

void proxy_health_guard_facts(struct health_guard *g, const struct health_rules *rules,
                              int64_t now_ms, struct health_facts *facts)
{
    uint64_t last = atomic_load_explicit(&g->last_ms, memory_order_acquire);

    lock(g);
    *facts = (struct health_facts){
        .state = g->health.state,
        .failures = g->health.failures,
        .share = proxy_health_share(&g->health, rules, now_ms),
        .wait_ms = proxy_health_wait(&g->health, now_ms),
    };
    pthread_mutex_unlock(&g->lock);
    if (facts->state == HEALTH_RETURNING && facts->share == 1000)
        facts->state = HEALTH_UP;
    facts->check_ago_ms = last ? now_ms - (int64_t)last : -1;
    facts->check_was_good = atomic_load_explicit(&g->last_end, memory_order_relaxed) == HEALTH_GOOD;
}
