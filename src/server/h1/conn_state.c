/* SPDX-License-Identifier: Apache-2.0 */
#include "server/h1/conn_state.h"

static const char *const names[] = {
#define STATE_NAME(name, text_name, step, follow, sentence) #text_name,
    MK_H1_STATES(STATE_NAME)
#undef STATE_NAME
};

#define TO(name) (1U << MK_H1_##name)
static const uint32_t follow[] = {
#define STATE_FOLLOW(name, text_name, step, follow, sentence) follow,
    MK_H1_STATES(STATE_FOLLOW)
#undef STATE_FOLLOW
};
#undef TO

const struct mk_states mk_h1_states = {
    .what = "connection",
    .id = "conn",
    .names = names,
    .follow = follow,
    .count = MK_H1_STATE_COUNT,
    .in = MK_LOG_CONN,
};

void mk_conn_go(struct mk_conn *c, enum mk_h1_state to)
{
    mk_conn_change(c, mk_conn_is_traced(c), to);
}
