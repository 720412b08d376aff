/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_OPTIONS_H
#define WR_OPTIONS_H

#include "find.h"
#include "run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TARGETS_MAX = 16, STEPS_MAX = 1024 };

/** Whom to watch: found by what the user said, or a server that is started. */
struct wanted {
    char name[64]; /* for the table; longer ones are cut */
    enum find_by by;
    const char *value;   /* borrowed from the arguments, as all below */
    const char *command; /* of a server, for the shell; otherwise NULL */
};

struct options {
    struct wanted targets[TARGETS_MAX];
    size_t ntargets;
    bool has_servers;
    const char *port; /* where servers are to answer; NULL: from the URL of the command */
    char **command;   /* NULL: only watch */
    int steps[STEPS_MAX];
    size_t nsteps;
    unsigned rounds;
    uint32_t seconds_ms, interval_ms, warm_up_ms; /* seconds 0: until the end */
    const char *requests_regex, *csv, *json, *html;
    const char *sys;            /* where /sys is mounted */
    bool asks[WR_FIGURE_COUNT]; /* figures that are read only if they are asked for */
    bool is_verbose, is_traced;
};

/** FROM:TO:STEP, or numbers with commas, into at most STEPS_MAX. @return how many; 0: it is neither, or too many */
size_t options_steps(const char *text, int *steps);

/** 30s, 100ms, 2m, 1h; without a unit seconds. @return false: no such time, or longer than 24 days */
bool options_time(const char *text, uint32_t *ms);

/** @return NULL, or what is wrong with the arguments; static, or in a buffer that the next call overwrites */
const char *options_parse(struct options *o, int argc, char **argv);

void options_usage(void);

#endif
