/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_BACKEND_INT_H
#define PROXY_BACKEND_INT_H

#include "backends/backend.h"
#include "backends/health_guard.h"
#include "backends/latency.h"
#include "backends/sticky.h"

#include "kit/counted/counted.h"

/*
 * A backend in three parts, because they live for different times. What was learnt of it (struct proxy_state)
 * goes from configuration to configuration while entry and address stay; its connections (struct
 * backend_pool) while also the way of connecting stays; what the settings say of it (struct proxy_backend)
 * belongs to one configuration, and to the attempts that began in it. Each is counted by its users.
 */

/** Counts of all workers since the backend is known. */
struct proxy_counters {
    _Atomic uint64_t requests;  /* attempts that began */
    _Atomic uint64_t status[6]; /* whole answers by class: 2 is 2xx; 0: none known */
    _Atomic uint64_t refused, broke, stale, full, left;
    _Atomic uint64_t probes;
    _Atomic uint64_t checks, failed_checks;
    _Atomic uint64_t repeated;       /* answers in whose place another backend was asked */
    _Atomic uint64_t sent, received; /* bytes of bodies */
};

struct proxy_state {
    struct counted refs;
    _Atomic unsigned active;  /* attempts under way */
    _Atomic bool is_drained;  /* asked only by clients whose cookie names it */
    _Atomic int64_t heard_ms; /* clock_tick_ms of the last head of an answer */
    struct health_guard health;
    struct latency latency; /* until the head of an answer */
    struct proxy_counters count;
};

struct backend_pool;

struct proxy_backend {
    struct counted refs; /* its group, attempts, checks */
    struct mk_server *server;
    char *texts; /* owned; the next are in it */
    const char *entry, *name, *host;
    struct mk_str authority;
    unsigned port;
    char sticky[PROXY_STICKY_LEN]; /* its name in cookies */
    struct health_rules rules;
    int64_t check_ms;  /* from one check to the next */
    unsigned retry_on; /* of the settings: statuses that count as failures */
    struct proxy_state *state;
    struct backend_pool *pool;
};

/** The backends of an entry of one configuration. */
struct proxy_group {
    const struct proxy_settings *set;
    struct balance *balance;
    _Atomic uint32_t chance; /* how often it was asked for something random */
    unsigned n, nmain;       /* nmain: the first ones, which are no backups */
    struct proxy_backend *backends[];
};

/**
 * Is a configuration the last that was started? Its requests may go on for hours behind its end, and its checks
 * must not: what they find is no longer asked for. Counted by the configuration, its checks and the next one.
 */
struct proxy_reign {
    struct counted refs;
    _Atomic bool is_over;
};

struct proxy_reign *proxy_reign_get(struct proxy_reign *reign);
/** NULL is allowed. Any thread. */
void proxy_reign_put(struct proxy_reign *reign);
/** A configuration is started; that of the old one, which may be NULL, is over. @return 0 or MK_E_NOMEM. */
int proxy_reign_begin(struct proxy_config *config, const struct proxy_config *old);
/** It is stopped, or its start failed. When nobody followed it, it was refused: the one before goes on. */
void proxy_reign_end(struct proxy_config *config);

struct proxy_backend *proxy_backend_get(struct proxy_backend *b);
/** NULL is allowed. Any thread. */
void proxy_backend_put(struct proxy_backend *b);
struct mk_upstream *proxy_backend_upstream(const struct proxy_backend *b);

/** A check found it well, or not. */
void proxy_backend_checked(struct proxy_backend *b, bool is_good);

static inline bool proxy_backend_is_drained(const struct proxy_backend *b)
{
    return atomic_load_explicit(&b->state->is_drained, memory_order_relaxed);
}

/** Add to a counter. Any thread. */
static inline void proxy_count(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/** All of a backend's failed attempts. */
static inline uint64_t proxy_failures(const struct proxy_counters *c)
{
    return atomic_load_explicit(&c->refused, memory_order_relaxed) +
           atomic_load_explicit(&c->broke, memory_order_relaxed);
}

#endif
