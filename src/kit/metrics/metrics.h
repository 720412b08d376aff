/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_METRICS_METRICS_H
#define KIT_METRICS_METRICS_H

#include <monkey/types.h>

#include <stdbool.h>
#include <stdint.h>

/* What the server counts, as samples of Prometheus. Any thread. */

struct mk_server;

struct metrics_label {
    const char *name, *value;
};

/** A number and what it is of. Borrowed for the call. */
struct metrics_sample {
    const char *name, *help;
    bool is_counter; /* otherwise a gauge */
    bool is_first;   /* of its name */
    struct metrics_label labels[2];
    unsigned nlabels;
    uint64_t value;
};

typedef void (*metrics_fn)(void *arg, const struct metrics_sample *sample);

/** Pass all samples of the server and its workers to fn, those of a name after each other. */
void metrics_each(struct mk_server *server, metrics_fn fn, void *arg);

enum { METRICS_TEXT = 512 }; /* room for one in words */

/** Write a sample in the text format 0.0.4, the first of its name with HELP and TYPE. @return bytes */
size_t metrics_write(char dst[METRICS_TEXT], const struct metrics_sample *sample);

#endif
