/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PERF_H
#define WR_PERF_H

#include "tree.h"

#include <stdbool.h>
#include <stdint.h>

/** What a counter of the processor or the kernel counts. perf_event_open(2). */
struct perf_event {
    uint32_t type;
    uint64_t config;
    bool is_user_left_out, is_kernel_left_out;
};

/** One event of all threads of a target, and of those that they start. */
struct perf {
    int *fds;
    size_t count;
    bool is_refused;
};

/** The number of the tracepoint that all system calls pass; UINT64_MAX: only root may see it. @param sys  where /sys is */
uint64_t perf_tracepoint(const char *sys);

/** Begin to count. What the machine lacks, or does not allow, is refused; perf_end() in any case. */
void perf_begin(struct perf *p, const struct tree *t, const struct perf_event *event);

/** @param sum  of the events; when counters were too few, scaled to the whole time. @return false: refused */
bool perf_end(struct perf *p, double *sum);

#endif
