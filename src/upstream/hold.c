/* SPDX-License-Identifier: Apache-2.0 */
#include "server/backend/stream.h"
#include "server/h1/budget.h"
#include "server/h1/conn.h"
#include "server/worker/worker.h"

#include <monkey/upstream.h>

void mk_stream_hold(struct mk_stream *s, size_t bytes)
{
    struct mk_conn *c = s ? s->conn : NULL;

    if (!c)
        return;
    c->of_protocol = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
    if (!c->closed && mk_budget_weigh(c))
        mk_budget_ask(c->worker->shared);
}
