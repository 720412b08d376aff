/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_WATCH_H
#define WR_WATCH_H

#include "child.h"
#include "options.h"
#include "run.h"
#include "tree.h"

#include <signal.h>

/** Ctrl-C or SIGTERM came. */
extern volatile sig_atomic_t watch_is_interrupted;

/** Signals end a run, not us. Once, before all else. */
void watch_init(void);

/** ms of the monotonic clock. */
double watch_now_ms(void);

/** Seconds of the epoch. */
double watch_now_s(void);

/** Wait, below a second; the signals come now. */
void watch_pause(int ms);

/** A target that is watched: what it is called, what its answer says of its version or NULL, its processes. */
struct target {
    const char *name, *server;
    struct tree tree;
};

struct watched {
    struct target *targets;
    size_t ntargets;
    char *const *argv;   /* the command, or NULL: only watch */
    struct child *child; /* where it is started and left, ended; the caller's to fini */
    uint32_t limit_ms;   /* 0: until the command is over, or nothing is left to watch */
    const struct options *options;
};

/**
 * Run the command once and watch meanwhile.
 * @param runs  one for each target, initialised; figures, samples and flags are filled in
 * @return 0, or -1 with errno: the command could not be started
 */
int watch_run(const struct watched *w, struct run *runs);

#endif
