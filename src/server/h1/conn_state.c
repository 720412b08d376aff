/* SPDX-License-Identifier: Apache-2.0 */
#include "server/h1/conn_state.h"

#define TO(name) (1U << MK_H1_##name)

const struct mk_states mk_h1_states = {
    .what = "connection", .id = "conn", .in = MK_LOG_CONN, MK_STATES_OF(MK_H1_STATES)};

void mk_conn_go(struct mk_conn *c, enum mk_h1_state to)
{
    mk_conn_change(c, mk_conn_is_traced(c), to);
}
