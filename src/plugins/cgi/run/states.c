/* SPDX-License-Identifier: Apache-2.0 */
#include "run/states.h"

#define ROW(upper, name, next, text) {name, next},

static const struct states_row run_rows[] = {RUN_STATES(ROW)};
static const struct states_row out_rows[] = {OUT_STATES(ROW)};
static const struct states_row fate_rows[] = {FATE_STATES(ROW)};

const struct states cgi_run_states = {"run", RUN_STATE_COUNT, run_rows};
const struct states cgi_out_states = {"output", OUT_STATE_COUNT, out_rows};
const struct states cgi_fate_states = {"script", FATE_STATE_COUNT, fate_rows};
