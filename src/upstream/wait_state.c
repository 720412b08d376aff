/* SPDX-License-Identifier: Apache-2.0 */
#include "base/invariant.h"
#include "server/worker/worker.h"
#include "upstream/upstream_int.h"

/* Where a request stands that waits for a connection to its backend. */

#define TO(name) (1U << MK_WAIT_##name)

const struct mk_states mk_wait_states = {
    .what = "wait", .id = "wait", .in = MK_LOG_CONN, MK_STATES_OF(MK_WAIT_STATES)};

void mk_wait_go(struct mk_upstream_wait *wait, enum mk_wait_state to)
{
    struct mk_log *log = mk_worker_log(wait->lane->worker);

    if (wait->state == to)
        return;
    MK_INVARIANT(mk_states_allow(&mk_wait_states, wait->state, to));
    if (MK_UNLIKELY(mk_log_traces(log, MK_LOG_CONN)))
        mk_states_trace(&mk_wait_states, log, wait->id, 0, wait->state, to);
    wait->state = (uint8_t)to;
}
