/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/health.h"

#include <assert.h>

enum { WHOLE = 1000, LEAST = 50 }; /* thousandths */

/* ---- states ---- */

static const struct {
    const char *name;
    unsigned next;
} rows[] = {
#define HEALTH_ROW(upper, lower, next, text) [HEALTH_##upper] = {#lower, next},
    HEALTH_STATES(HEALTH_ROW)
#undef HEALTH_ROW
};

const char *proxy_health_name(enum health_state state)
{
    return rows[state].name;
}

bool proxy_health_may_turn(enum health_state from, enum health_state to)
{
    return rows[from].next >> to & 1;
}

/* The only place where it changes. */
static void health_turn(struct health *h, enum health_state to)
{
    assert(proxy_health_may_turn(h->state, to));
    h->state = to;
}

/* Into a state in which nothing is counted yet. */
static void begin_anew(struct health *h, enum health_state to, int64_t now_ms)
{
    health_turn(h, to);
    *h = (struct health){.state = h->state, .since_ms = now_ms};
}

/* ---- requests ---- */

static bool is_serving(const struct health *h)
{
    return !health_is_out(h->state);
}

/* Also for a probe, which hangs on its client too: one that sends its body slowly would keep all others away. */
static bool has_waited(const struct health *h, const struct health_rules *rules, int64_t now_ms)
{
    return !is_serving(h) && !rules->is_checked && now_ms >= h->until_ms;
}

bool proxy_health_may(const struct health *h, const struct health_rules *rules, int64_t now_ms)
{
    return rules->offline_ms == 0 || is_serving(h) || has_waited(h, rules, now_ms);
}

enum health_pass proxy_health_admit(struct health *h, const struct health_rules *rules,
                                    int64_t now_ms)
{
    if (rules->offline_ms == 0 || is_serving(h))
        return HEALTH_NORMAL;
    if (!has_waited(h, rules, now_ms))
        return HEALTH_REFUSED;
    health_turn(h, HEALTH_PROBING);
    h->until_ms = now_ms + rules->offline_ms;
    return HEALTH_PROBE;
}

enum health_pass proxy_health_admit_last(const struct health *h, const struct health_rules *rules)
{
    return rules->offline_ms == 0 || is_serving(h) ? HEALTH_NORMAL : HEALTH_LAST;
}

static void go_offline(struct health *h, const struct health_rules *rules, int64_t now_ms)
{
    /* A failed probe goes on with the same time offline. */
    if (is_serving(h))
        h->since_ms = now_ms;
    health_turn(h, HEALTH_OFFLINE);
    h->failures = h->checks = 0;
    h->until_ms = now_ms + rules->offline_ms;
}

static void come_back(struct health *h, const struct health_rules *rules, int64_t now_ms)
{
    begin_anew(h, rules->slow_ms > 0 ? HEALTH_RETURNING : HEALTH_UP, now_ms);
}

static void settle_health(struct health *h, const struct health_rules *rules, int64_t now_ms)
{
    if (h->state == HEALTH_RETURNING && now_ms - h->since_ms >= rules->slow_ms)
        begin_anew(h, HEALTH_UP, now_ms);
}

static void count_failure(struct health *h, const struct health_rules *rules, int64_t now_ms)
{
    if (h->state == HEALTH_UP && (h->failures == 0 || now_ms - h->since_ms > rules->window_ms)) {
        h->since_ms = now_ms;
        h->failures = h->checks = 0;
    }
    if (++h->failures >= rules->attempts)
        go_offline(h, rules, now_ms);
}

static void count_failed_check(struct health *h, const struct health_rules *rules, int64_t now_ms)
{
    count_failure(h, rules, now_ms);
    if (is_serving(h))
        h->checks++;
}

static void pay_back(struct health *h)
{
    if (h->failures > h->checks)
        h->failures--;
}

/* What was sent there for want of others. Only a check brings back what is checked. */
static void end_last(struct health *h, const struct health_rules *rules, enum health_end end,
                     int64_t now_ms)
{
    if (end == HEALTH_GOOD && !rules->is_checked)
        come_back(h, rules, now_ms);
    else if (end == HEALTH_BAD)
        go_offline(h, rules, now_ms); /* for longer than the others */
}

static void end_normal(struct health *h, const struct health_rules *rules, enum health_end end,
                       int64_t now_ms)
{
    if (end == HEALTH_GOOD)
        pay_back(h);
    else if (end == HEALTH_BAD && !rules->is_alone)
        count_failure(h, rules, now_ms);
}

static void end_probe(struct health *h, const struct health_rules *rules, enum health_end end,
                      int64_t now_ms)
{
    /* A check may have decided in the meantime. */
    if (h->state != HEALTH_PROBING)
        return;
    if (end == HEALTH_GOOD) {
        come_back(h, rules, now_ms);
    } else if (end == HEALTH_BAD) {
        go_offline(h, rules, now_ms);
    } else {
        health_turn(h, HEALTH_OFFLINE); /* the next request finds out */
        h->until_ms = now_ms;
    }
}

void proxy_health_tell(struct health *h, const struct health_rules *rules, enum health_pass pass,
                       enum health_end end, int64_t now_ms)
{
    if (pass == HEALTH_REFUSED || rules->offline_ms == 0)
        return;
    settle_health(h, rules, now_ms);
    if (pass == HEALTH_PROBE)
        end_probe(h, rules, end, now_ms);
    else if (is_serving(h))
        end_normal(h, rules, end, now_ms);
    else if (pass == HEALTH_LAST)
        end_last(h, rules, end, now_ms);
    /* What was under way when it went offline changes nothing. */
}

void proxy_health_tell_check(struct health *h, const struct health_rules *rules, bool is_good,
                             int64_t now_ms)
{
    if (rules->offline_ms == 0)
        return;
    settle_health(h, rules, now_ms);
    if (is_serving(h)) {
        if (!is_good)
            count_failed_check(h, rules, now_ms);
    } else if (is_good) {
        come_back(h, rules, now_ms);
    } else {
        go_offline(h, rules, now_ms);
    }
}

unsigned proxy_health_share(const struct health *h, const struct health_rules *rules,
                            int64_t now_ms)
{
    int64_t share;

    if (h->state != HEALTH_RETURNING || rules->slow_ms == 0)
        return WHOLE;
    share = (now_ms - h->since_ms) * WHOLE / rules->slow_ms;
    if (share < LEAST)
        return LEAST;
    return share > WHOLE ? WHOLE : (unsigned)share;
}

int64_t proxy_health_wait(const struct health *h, int64_t now_ms)
{
    return h->state == HEALTH_OFFLINE && h->until_ms > now_ms ? h->until_ms - now_ms : 0;
}
