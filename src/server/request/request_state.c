/* SPDX-License-Identifier: Apache-2.0 */
#include "server/request/request_state.h"

#include "server/worker/worker.h"

#define TO(name) (1U << MK_ASKING_##name)

const struct mk_states mk_asking_states = {
    .what = "request", .id = "conn", .in = MK_LOG_HTTP, MK_STATES_OF(MK_ASKING_STATES)};

#undef TO
#define TO(name) (1U << MK_ANSWERING_##name)

const struct mk_states mk_answering_states = {
    .what = "answer", .id = "conn", .in = MK_LOG_HTTP, MK_STATES_OF(MK_ANSWERING_STATES)};

#undef TO
#define TO(name) (1U << MK_RECEIVING_##name)

const struct mk_states mk_receiving_states = {
    .what = "body", .id = "conn", .in = MK_LOG_HTTP, MK_STATES_OF(MK_RECEIVING_STATES)};

void mk_request_trace(const struct mk_request *r, const struct mk_states *states, unsigned from,
                      unsigned to)
{
    mk_states_trace(states, mk_worker_log(r->worker), r->id, r->traced, from, to);
}

void mk_asking_go(struct mk_request *r, enum mk_asking to)
{
    mk_asking_change(r, to);
}

void mk_answering_go(struct mk_request *r, enum mk_answering to)
{
    mk_answering_change(r, to);
}

void mk_receiving_go(struct mk_request *r, enum mk_receiving to)
{
    mk_request_change(r, &mk_receiving_states, &r->receiving, to);
}

void mk_asking_park(struct mk_request *r, unsigned stage)
{
    r->waits_in = (uint8_t)stage;
    if (r->asking == MK_ASKING_ASKED)
        mk_asking_go(r, MK_ASKING_PARKED);
    else if (r->asking == MK_ASKING_ROUSED)
        mk_asking_go(r, MK_ASKING_WOKEN);
}

void mk_asking_wake(struct mk_request *r)
{
    if (r->asking == MK_ASKING_PARKED)
        mk_asking_go(r, MK_ASKING_WOKEN);
    else if (r->asking == MK_ASKING_ASKED && r->answering == MK_ANSWERING_NONE)
        mk_asking_go(r, MK_ASKING_ROUSED);
}

void mk_answering_break(struct mk_request *r)
{
    if (mk_answering_is_open(r))
        mk_answering_go(r, MK_ANSWERING_CUT);
    else if (!mk_answering_is_broken(r))
        mk_answering_go(r, MK_ANSWERING_BROKEN);
}
