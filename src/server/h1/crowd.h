/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_H1_CROWD_H
#define MK_SERVER_H1_CROWD_H

#include "server/worker/ask.h"

/*
 * Who has to go when MaxConnections is nearly used up: those that linger after their last answer, of whatever address;
 * then of the address that holds the most connections the idle ones, then those that were waited for longest. Nobody goes within two seconds, while a handler works on his request, or
 * while his bytes move as fast as MinRate and MinReadRate want it.
 *
 * Nothing is counted before that: a few connections are looked at, others each time, and the address that most of
 * them have is the one. What an earlier look found is remembered for a while, so that a look at others, of which
 * nobody has many, takes nothing from them. The work is bounded, and each worker looks at its own connections only.
 */

struct mk_shared;
struct mk_worker;

/** Of a worker. */
struct mk_crowd {
    struct mk_worker *worker;
    struct mk_ask ask; /* to make room */
    unsigned heaviest; /* connections of one address among those looked at; fades */
};

void mk_crowd_init(struct mk_crowd *crowd, struct mk_worker *w);

/** Are there so many connections that room must be made for others? */
bool mk_crowd_is_near(const struct mk_shared *shared);
/** Would be, with one more? Then those who have left, of whom the next turn of a worker hears, make room first. */
bool mk_crowd_is_next_near(const struct mk_shared *shared);
/** Close at most so many connections of this worker. On its thread, in no connection's turn. */
void mk_crowd_shed(struct mk_worker *w, unsigned most);
/** No room is left: every worker is to make some. Any thread. */
void mk_crowd_ask(struct mk_shared *shared);

#endif
