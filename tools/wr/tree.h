/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TREE_H
#define WR_TREE_H

#include "ledger.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Processes that are watched: some that were named, and all that descend from them. Each is held by a
 * descriptor of its folder in /proc, so that a number that is given to another process is never taken
 * for it.
 */

/** What it is now. */
enum wr_gauge { WR_RSS_KB, WR_PROCESSES, WR_THREADS, WR_DESCRIPTORS, WR_GAUGE_COUNT };

/** What smaps_rollup says. Linux walks all pages for it: only outside of what is measured. */
enum wr_memory { WR_PSS_KB, WR_PRIVATE_KB, WR_SWAP_KB, WR_MEMORY_COUNT };

struct member {
    int pid, dir, parent;
    uint64_t start;
    uint64_t rss, threads;
    uint64_t
        tasks_seen[WR_COUNTER_COUNT]; /* last sums over the threads, to notice threads that ended */
    bool is_here;
    struct ledger ledger;
};

struct tree {
    struct member *members;
    size_t count, room;
    uint64_t gone[WR_COUNTER_COUNT];   /* of members that ended and whose parent is not watched */
    bool is_refused[WR_COUNTER_COUNT]; /* could not be read of a member */
    bool has_own_children; /* children of this very process that are not except belong to it */
    int except[2];
};

enum tree_depth { TREE_QUICK, TREE_FULL };

/** @return 0, or -1 with errno: there is no such process */
int tree_add(struct tree *t, int pid);

/** Count from now on; what members used before is not ours. What begins later counts from its start. */
void tree_begin(struct tree *t);

/** Bring all up to date; FULL reads also what needs a look at each thread. */
void tree_scan(struct tree *t, enum tree_depth depth);

/** How many members live (a zombie does not). */
size_t tree_living(const struct tree *t);

/** All that was used since tree_begin(). */
uint64_t tree_used(const struct tree *t, enum wr_counter c);

/** @return the sum over the members as of the last scan; descriptors are counted now */
uint64_t tree_gauge(const struct tree *t, enum wr_gauge g);

/** Sums in KB. @return false: one of them may not be looked at */
bool tree_memory(const struct tree *t, uint64_t kb[WR_MEMORY_COUNT]);

/** Reset, or read the sum of, what each had resident at most. @return false: the kernel has no such thing, or refuses */
bool tree_reset_peaks(const struct tree *t);
bool tree_peaks(const struct tree *t, uint64_t *kb);

void tree_fini(struct tree *t);

#endif
