/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/backend_int.h"

#include "kit/clock/clock.h"

/* What became of attempts and checks, and what that says of a backend. */

static void trace_health(const struct proxy_backend *b, struct health_change change)
{
    if (change.was != change.is)
        mk_server_log(
            b->server, MK_LOG_TRACE, "proxy state of=backend was=%s is=%s entry=%s backend=%s",
            proxy_health_name(change.was), proxy_health_name(change.is), b->entry, b->name);
}

static void tell_log(const struct proxy_backend *b, struct health_change change, const char *why)
{
    trace_health(b, change);
    if (health_went(change))
        mk_server_log(b->server, MK_LOG_WARN, "proxy: backend offline entry=%s backend=%s why=%s",
                      b->entry, b->name, why);
    if (health_came_back(change))
        mk_server_log(b->server, MK_LOG_INFO, "proxy: backend online entry=%s backend=%s", b->entry,
                      b->name);
}

static void tell_health(struct proxy_attempt *attempt, enum health_end end, const char *why)
{
    struct proxy_backend *b = attempt->backend;

    tell_log(b,
             proxy_health_guard_tell(&b->state->health, &b->rules, (enum health_pass)attempt->pass,
                                     end, clock_tick_ms()),
             why);
    attempt->pass = HEALTH_NORMAL; /* it has decided */
}

static const char why_status[] = "status"; /* of RetryOn */

void proxy_answers(struct proxy_attempt *attempt, unsigned status)
{
    const struct proxy_backend *b = attempt->backend;

    atomic_store_explicit(&b->state->heard_ms, clock_tick_ms(), memory_order_relaxed);
    if (attempt->pass == HEALTH_NORMAL)
        return;
    if (proxy_retries_on(b->retry_on, status))
        tell_health(attempt, HEALTH_BAD, why_status);
    else
        tell_health(attempt, HEALTH_GOOD, "");
}

/* What each outcome says of a backend, and where it is counted. */
static const struct {
    enum health_end end;
    const char *why;
    size_t counter;
} outcomes[] = {
#define COUNTER(member) offsetof(struct proxy_counters, member)
    [PROXY_ANSWERED] = {HEALTH_GOOD, "", COUNTER(status)},
    [PROXY_REFUSED] = {HEALTH_BAD, "refused", COUNTER(refused)},
    [PROXY_BROKE] = {HEALTH_BAD, "broke", COUNTER(broke)},
    [PROXY_SILENT] = {HEALTH_BAD, "silent", COUNTER(broke)},
    [PROXY_UNFIT] = {HEALTH_UNKNOWN, "", COUNTER(broke)},
    [PROXY_STALE] = {HEALTH_UNKNOWN, "", COUNTER(stale)},
    [PROXY_FULL] = {HEALTH_UNKNOWN, "", COUNTER(full)},
    [PROXY_LEFT] = {HEALTH_UNKNOWN, "", COUNTER(left)},
#undef COUNTER
};

static void count_outcome(struct proxy_state *s, const struct proxy_report *report)
{
    char *counters = (char *)&s->count;
    unsigned class = report->status / 100;

    if (report->outcome == PROXY_ANSWERED) {
        proxy_count(&s->count.status[class < 6 ? class : 0], 1);
        proxy_latency_count(&s->latency, report->head_us, clock_tick_ms());
    } else {
        proxy_count((_Atomic uint64_t *)(void *)(counters + outcomes[report->outcome].counter), 1);
    }
    if (report->is_repeated)
        proxy_count(&s->count.repeated, 1);
    proxy_count(&s->count.sent, report->sent);
    proxy_count(&s->count.received, report->received);
}

static bool is_failed_answer(const struct proxy_backend *b, const struct proxy_report *report)
{
    return report->outcome == PROXY_ANSWERED && proxy_retries_on(b->retry_on, report->status);
}

/* A backend that answered others meanwhile is not dead: the URL is slow. */
static enum health_end health_of(const struct proxy_backend *b, const struct proxy_report *report)
{
    int64_t began_ms = clock_tick_ms() - (int64_t)(report->whole_us / 1000);

    if (report->outcome == PROXY_SILENT &&
        atomic_load_explicit(&b->state->heard_ms, memory_order_relaxed) >= began_ms)
        return HEALTH_UNKNOWN;
    return is_failed_answer(b, report) ? HEALTH_BAD : outcomes[report->outcome].end;
}

void proxy_end(struct proxy_attempt *attempt, const struct proxy_report *report)
{
    struct proxy_backend *b = attempt->backend;

    if (atomic_fetch_sub_explicit(&b->state->active, 1, memory_order_relaxed) == 1 &&
        proxy_backend_is_drained(b))
        mk_server_log(b->server, MK_LOG_INFO, "proxy: drained backend is free entry=%s backend=%s",
                      b->entry, b->name);
    count_outcome(b->state, report);
    tell_health(attempt, health_of(b, report),
                is_failed_answer(b, report) ? why_status : outcomes[report->outcome].why);
    attempt->backend = NULL;
    proxy_backend_put(b);
}

void proxy_backend_checked(struct proxy_backend *b, bool is_good)
{
    proxy_count(&b->state->count.checks, 1);
    if (!is_good)
        proxy_count(&b->state->count.failed_checks, 1);
    tell_log(b,
             proxy_health_guard_tell_check(&b->state->health, &b->rules, is_good, clock_tick_ms()),
             "check");
}
