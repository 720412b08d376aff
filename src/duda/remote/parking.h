/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REMOTE_PARKING_H
#define MK_DUDA_REMOTE_PARKING_H

#undef DUDA_API_LEVEL
#define DUDA_API_LEVEL 3 /* gc->call */
#include "duda_api.h"

/*
 * For packages that ask servers: requests that wait for answers. One may end before its answers: then they have no request
 * any more. A lot belongs to one worker.
 */

enum { PARKING_CHAINS = 64 };

struct parking;

struct parking_lot {
    struct parking *chains[PARKING_CHAINS]; /* by request; NULL in the beginning */
};

/** Park a request for one more answer. @return NULL: it is no request that can wait, or no memory */
struct parking *parking_enter(struct parking_lot *lot, duda_request_t *dr);

/** Undo parking_enter(): no answer will come. NULL is allowed. */
void parking_cancel(struct parking *p);

/**
 * An answer is there: call fn with the request, which is parked again while it has other answers to come.
 * @param p   NULL: it has no request
 * @param fn  gets NULL in place of a request that has ended
 */
void parking_leave(struct parking *p, void (*fn)(duda_request_t *dr, void *arg), void *arg);

/** The lot ends before the requests, and nothing is called any more. */
void parking_lot_end(struct parking_lot *lot);

#endif
