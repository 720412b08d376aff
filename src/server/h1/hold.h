/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_H1_HOLD_H
#define MK_SERVER_H1_HOLD_H

#include "server/h1/budget.h"
#include "server/h1/conn.h"
#include "server/worker/worker.h"

/** What the protocol of a connection, or the handler that took it, keeps for it in bytes, in place of what was said before.
    Inline, because libmonkey and libmonkey-protocol have it. */
static inline void mk_conn_set_kept(struct mk_conn *c, size_t bytes)
{
    if (c->of_protocol == 0) /* however long it was quiet, what comes now has not stood still */
        c->holding.since_ms = (uint32_t)c->worker->loop.clock.mono_ms;
    c->of_protocol = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
    if (!c->closed && mk_budget_weigh(c))
        mk_budget_ask(c->worker->shared);
}

#endif
