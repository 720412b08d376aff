/* SPDX-License-Identifier: Apache-2.0 */
#include "service/state.h"

#define ROW(upper, name, next, meaning) {name, next},

static const struct states_row rows[] = {MK_DUDA_REQUEST_STATES(ROW)};

const struct states mk_duda_request_states = {"request", MK_DUDA_REQUEST_STATE_COUNT, rows};
