/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_MEMCACHED_PARKING_H
#define MK_DUDA_MEMCACHED_PARKING_H

#include "pool.h"

/* A request with commands. It may end before their answers: then they have no request any more. */

/** The request of a command is parked. @return 0; -1: it is no request that can wait, or no memory */
int memc_park(struct memc_pool *pool, struct memc_command *c, duda_request_t *dr);

/** Undo memc_park() of a command that was not submitted. */
void memc_unpark(struct memc_command *c);

/** Call the function of a command with its request, which is parked again while it has other commands. */
void memc_unpark_and_call(struct memc_command *c, const struct memcached_answer *answer);

/** The pool ends before the requests. */
void memc_forget_parkings(struct memc_pool *pool);

#endif
