/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_H1_BUDGET_H
#define MK_SERVER_H1_BUDGET_H

#include "base/code.h"
#include "server/worker/ask.h"

/*
 * MaxMemory: what waits in user space for slow clients, over all workers. That is what a connection has beyond the
 * blocks of its pools: the answers that the kernel did not take, records that were encrypted, a large head, and what a
 * handler says that it keeps (mk_request_hold). A request of a plugin's protocol is weighed by itself, with its block if it has
 * more than that, since one connection has many, and so is a tunnel; what the protocol keeps besides is its connection's
 * (mk_conn_hold). Requests from memory count too, and fail when there is no room for them (server/memory/memory.c). Each worker sums up its own; a connection is weighed at the end of
 * its turn, and costs nothing while it holds nothing.
 *
 * When it is used up, workers with more than their share close the connections that hold much for long, and end such requests
 * of plugins' protocols: of those that have stood still longest (a bounded number is looked at) the one with the most bytes
 * times time.
 */

struct mk_conn;
struct mk_holder;
struct mk_shared;
struct mk_worker;

/** Of a worker. */
struct mk_budget {
    struct mk_list holders;  /* connections; the one that has moved last is the last */
    struct mk_list requests; /* and tunnels, of plugins' protocols, likewise */
    struct mk_worker *worker;
    struct mk_ask ask; /* to make room */
};

void mk_budget_init(struct mk_budget *budget, struct mk_worker *w);

/** Book what it holds now. @return whether it holds more than before, and all together too much. */
MK_INSIDE bool mk_budget_weigh(struct mk_conn *c) MK_MUST_USE;
/**
 * Book what a request or a tunnel of a plugin's protocol holds now, with its connection's part left out; 0: it ends. Workers are
 * asked to make room when it holds more than before, and all together too much.
 */
MK_INSIDE void mk_budget_weigh_holder(struct mk_holder *h, size_t held);
/** Is MaxMemory not used up? Otherwise workers are asked to make room, and whoever asks does without. */
MK_INSIDE bool mk_budget_has_room(struct mk_worker *w) MK_MUST_USE;
/** It is about to be closed. */
void mk_budget_leave(struct mk_conn *c);
/** Bring the sum below MaxMemory: close connections of this worker, and ask the others. In no connection's turn. */
void mk_budget_make_room(struct mk_worker *w);
/** Ask all workers to, soon. Any thread. */
MK_INSIDE void mk_budget_ask(struct mk_shared *shared);

#endif
