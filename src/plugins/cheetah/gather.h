/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHEETAH_GATHER_H
#define CHEETAH_GATHER_H

#include "reply.h"

#include <monkey/inspect.h>

/* The connections of all workers, each worker asked on its own thread. */

enum { GATHER_CONNECTIONS = 1000 }; /* shown of a worker */

struct gather;

/**
 * Ask all workers.
 * @param home  worker on whose thread this and the calls below are made
 * @param wake  called there when all have answered; without memory not at all, so look now and then
 * @return it, or NULL without memory.
 */
struct gather *cheetah_gather_begin(struct mk_worker *home, void (*wake)(void *arg), void *arg);
bool cheetah_gather_is_done(const struct gather *g);
/** Write what came, when it is done. */
void cheetah_gather_tell(const struct gather *g, struct reply *r);
/** No longer wanted; wake is not called from then on. */
void cheetah_gather_leave(struct gather *g);

#endif
