/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_H1_CONN_STATE_H
#define MK_SERVER_H1_CONN_STATE_H

#include "base/invariant.h"
#include "core/states.h"
#include "server/h1/conn.h"
#include "server/worker/worker.h"

/** The rows of MK_H1_STATES. */
extern const struct mk_states mk_h1_states;

/** Are changes of state traced? */
static inline bool mk_conn_is_traced(const struct mk_conn *c)
{
    return mk_log_traces(mk_worker_log(c->worker), MK_LOG_CONN);
}

/** Change a connection's state; nothing else does. The new state may follow the present one. @param traced  mk_conn_is_traced, asked once for a whole turn */
static inline void mk_conn_change(struct mk_conn *c, bool traced, enum mk_h1_state to)
{
    MK_INVARIANT(mk_states_allow(&mk_h1_states, c->state, to));
    if (MK_UNLIKELY(traced))
        mk_states_trace(&mk_h1_states, mk_worker_log(c->worker), c->id, 0, c->state, to);
    c->state = (uint8_t)to;
}

/** The same where no turn is at hand. */
void mk_conn_go(struct mk_conn *c, enum mk_h1_state to);

/** Is a request being answered: in REPLY, BODY or HANDLER? */
static inline bool mk_conn_is_answering(const struct mk_conn *c)
{
    return c->state >= MK_H1_REPLY && c->state <= MK_H1_HANDLER;
}

#endif
