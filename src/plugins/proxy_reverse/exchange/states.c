/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/states.h"

#define ROW(upper, name, next, text) [PROXY_##upper] = {name, next},

static const struct states_row exchange_rows[] = {PROXY_STATES(ROW)};
static const struct states_row sending_rows[] = {PROXY_SENDING(ROW)};
static const struct states_row reading_rows[] = {PROXY_READING(ROW)};

const struct states proxy_exchange_states = {"exchange", PROXY_STATE_COUNT, exchange_rows};
const struct states proxy_sending_states = {"request", PROXY_SENDING_COUNT, sending_rows};
const struct states proxy_reading_states = {"body", PROXY_READING_COUNT, reading_rows};
