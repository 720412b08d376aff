/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_FACTS_H
#define PROXY_FACTS_H

#include "backends/health_guard.h"
#include "backends/latency.h"
#include "entry/settings.h"

/* All that is told of a backend, at one moment. */
struct proxy_facts {
    const char *name; /* as written in ServerList; lives as long as the entry */
    unsigned weight;  /* how often it was written there */
    bool is_backup;   /* asked only while no other can be */
    bool is_drained;
    struct health_facts health;
    struct latency_facts latency;
    unsigned active, open, idle,
        waiting; /* requests; connections, idle ones too; waiting requests */
    uint64_t requests, failures, refused, broke, probes, checks, failed_checks, sent, received;
    uint64_t status[6];
    uint64_t repeated; /* answers in whose place another backend was asked */
    double rate;       /* requests a second of the last one to two minutes */
};

/** Backends of an entry that is in force. */
unsigned proxy_facts_count(const struct proxy_entry *entry);
/** @param i  less than their count. Any thread. */
void proxy_facts(const struct proxy_entry *entry, unsigned i, struct proxy_facts *facts);

#endif
