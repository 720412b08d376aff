/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATUS_GATHER_H
#define STATUS_GATHER_H

#include <monkey/inspect.h>

/* The connections of all workers by their states: each worker counts its own, on its own thread. */

enum { GATHER_STATES = 24 };

struct gather_count {
    const char *state; /* static */
    uint64_t count;
};

struct gather;

/**
 * Ask all workers. The request is resumed when the last of them has answered.
 * @return it, with a reference of the caller's; NULL without memory
 */
struct gather *status_gather_begin(struct mk_request *r, struct mk_server *server);
bool status_gather_is_done(const struct gather *g);
/** Workers that have not answered (yet). */
unsigned status_gather_missing(const struct gather *g);
/** Add up those that have. @return states, each once */
unsigned status_gather_add_up(const struct gather *g, struct gather_count counts[GATHER_STATES]);
void status_gather_put(struct gather *g);

#endif
