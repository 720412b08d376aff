/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_H1_H1_INT_H
#define MK_SERVER_H1_H1_INT_H

#include "server/h1/conn_state.h"
#include "server/h1/h1.h"
#include "server/h1/job.h"
#include "server/worker/worker.h"

/* Between h1.c (the steps) and h1_timeout.c. */

/** What is in force now; a request keeps its own in its view. */
static inline const struct mk_server_settings *mk_h1_settings(const struct mk_conn *c)
{
    return &c->worker->view->snapshot->set;
}

/* How steps end. */

static inline enum mk_step mk_h1_close_for(struct mk_conn *c, enum mk_close reason)
{
    c->close_reason = (uint8_t)reason;
    return MK_STEP_CLOSE;
}

static inline enum mk_step mk_h1_go(struct mk_conn *c, const struct mk_turn *turn,
                                    enum mk_h1_state state)
{
    mk_conn_change(c, turn->traced, state);
    return MK_STEP_NEXT;
}

/** Is a request under way? */
static inline bool mk_h1_has_request(const struct mk_conn *c)
{
    return c->job && c->job->request.view;
}

/* h1_offer.c: connections whose clients may choose another protocol */

/** The step of OFFER, once a connection: no part of what each request passes. */
__attribute__((noinline, cold)) enum mk_step mk_h1_step_offer(struct mk_conn *c,
                                                              const struct mk_turn *turn);
/** The state in which a connection waits for its first byte, once its peer is known. */
enum mk_h1_state mk_h1_first_state(const struct mk_conn *c);

/** Has the peer's system all that was sent? */
bool mk_h1_is_delivered(const struct mk_conn *c);

#endif
