/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_HEALTH_GUARD_H
#define PROXY_HEALTH_GUARD_H

#include "backends/health.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * The health of a backend for all workers: the machine of health.h behind a mutex that a backend which is
 * up and does not fail never takes. Any thread.
 */
struct health_guard {
    pthread_mutex_t lock;
    struct health health;      /* under lock */
    _Atomic uint8_t state;     /* a copy of health.state, to read without it */
    _Atomic bool owes;         /* there are failures that a success takes back */
    _Atomic uint64_t last_ms;  /* monotonic time of the last check; 0: none */
    _Atomic uint32_t last_end; /* enum health_end of it */
};

/** @return 0 or MK_E_NOMEM. */
int proxy_health_guard_init(struct health_guard *g);
void proxy_health_guard_fini(struct health_guard *g);

/** What happened to the state: worth a line in the log. */
struct health_change {
    enum health_state was, is;
};

/** It was asked for requests and is not any more; or the other way round. */
static inline bool health_went(struct health_change change)
{
    return !health_is_out(change.was) && health_is_out(change.is);
}

static inline bool health_came_back(struct health_change change)
{
    return health_is_out(change.was) && !health_is_out(change.is);
}

bool proxy_health_guard_may(struct health_guard *g, const struct health_rules *rules,
                            int64_t now_ms);
enum health_pass proxy_health_guard_admit(struct health_guard *g, const struct health_rules *rules,
                                          int64_t now_ms);
enum health_pass proxy_health_guard_admit_last(struct health_guard *g,
                                               const struct health_rules *rules);
/** The time that says who of those that are offline is to be asked first: it is the lowest. */
int64_t proxy_health_guard_until(struct health_guard *g);
struct health_change proxy_health_guard_tell(struct health_guard *g,
                                             const struct health_rules *rules,
                                             enum health_pass pass, enum health_end end,
                                             int64_t now_ms);
struct health_change proxy_health_guard_tell_check(struct health_guard *g,
                                                   const struct health_rules *rules, bool is_good,
                                                   int64_t now_ms);
unsigned proxy_health_guard_share(struct health_guard *g, const struct health_rules *rules,
                                  int64_t now_ms);

struct health_facts {
    enum health_state state;
    unsigned failures;    /* of the present window */
    unsigned share;       /* thousandths */
    int64_t wait_ms;      /* until it is tried again; 0: it is not offline */
    int64_t check_ago_ms; /* since the last check; -1: none */
    bool check_was_good;
};
void proxy_health_guard_facts(struct health_guard *g, const struct health_rules *rules,
                              int64_t now_ms, struct health_facts *facts);

#endif
