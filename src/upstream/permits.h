/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_UPSTREAM_PERMITS_H
#define MK_UPSTREAM_PERMITS_H

#include "base/list.h"

#include <monkey/types.h>

#include <pthread.h>

/*
 * How many connections a backend has, over all workers, and who waits for one. Each connection has a
 * permit from before it is dialled until it is closed; a permit that becomes free goes to whoever has
 * waited longest. All of it is behind one mutex, and nothing is called under it: what there is to do is
 * returned. A lane is a worker by its number.
 *
 * Always: while somebody waits all permits are taken, and as many idle connections as there are waiters,
 * if there are so many, have been asked for.
 */

struct mk_permit_lane {
    unsigned idle;  /* connections that it keeps */
    unsigned asked; /* of these: to be given up for those who wait; <= idle */
    bool told;      /* its worker was told, and has not come yet */
};

/** Whoever waits; embedded in what is the caller's own, and not moved until mk_permits_leave or a permit came. */
struct mk_permit_wait {
    struct mk_list link;
    unsigned lane;
    bool fresh;  /* no kept connection will do */
    bool queued; /* under lock */
};

struct mk_permits {
    pthread_mutex_t lock;
    unsigned max, max_waiting, max_idle; /* do not change */
    unsigned nlanes;
    struct mk_permit_lane *lanes; /* under lock, as all below */
    struct mk_list waiting;       /* longest first */
    unsigned open, idle, nwaiting, asked;
    bool closing; /* nothing is kept any more */
};

enum mk_permit {
    MK_PERMIT_IDLE, /* for the connection that the lane kept last; it is not idle any more */
    MK_PERMIT_NEW,  /* to dial */
    MK_PERMIT_WAIT, /* queued */
};

enum mk_keep {
    MK_KEEP_IDLE,  /* it counts as idle now */
    MK_KEEP_HAND,  /* the heir, who is of the same lane, gets the connection */
    MK_KEEP_CLOSE, /* close it; the heir, if any, gets the permit */
};

/** @param max 0: no bound. @return 0 or MK_E_NOMEM. */
int mk_permits_init(struct mk_permits *p, unsigned nlanes, unsigned max, unsigned max_waiting,
                    unsigned max_idle) MK_MUST_USE;
void mk_permits_fini(struct mk_permits *p);

/**
 * @param wait  lane and fresh are set
 * @param tell  out: the lane whose worker must now call mk_permits_surrender; -1: none
 * @return enum mk_permit; MK_E_BUSY: too many wait already.
 */
int mk_permits_take(struct mk_permits *p, struct mk_permit_wait *wait, int *tell) MK_MUST_USE;
/** Stop waiting. @return false: not queued any more, a permit is on its way. */
bool mk_permits_leave(struct mk_permits *p, struct mk_permit_wait *wait) MK_MUST_USE;

/** A connection in use, or the dialling of one, has ended. @return who gets the permit now; NULL: nobody. */
struct mk_permit_wait *mk_permits_put(struct mk_permits *p) MK_MUST_USE;
/** A connection in use could be kept. */
enum mk_keep mk_permits_keep(struct mk_permits *p, unsigned lane,
                             struct mk_permit_wait **heir) MK_MUST_USE;
/** A connection ended while it was idle. @return who gets the permit now; NULL: nobody. */
struct mk_permit_wait *mk_permits_lose(struct mk_permits *p, unsigned lane) MK_MUST_USE;

/**
 * A worker was told.
 * @param heirs  out: those who get permits now
 * @return how many idle connections it must close; they do not count any more.
 */
unsigned mk_permits_surrender(struct mk_permits *p, unsigned lane,
                              struct mk_list *heirs) MK_MUST_USE;
/** Nothing is kept from now on. */
void mk_permits_close(struct mk_permits *p);
/** @return whether the lane keeps something and its worker must be told (and was not). */
bool mk_permits_must_tell(struct mk_permits *p, unsigned lane) MK_MUST_USE;

void mk_permits_load(struct mk_permits *p, unsigned *open, unsigned *idle, unsigned *waiting);

#endif
