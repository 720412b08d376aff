/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/states.h"

#define ROW(upper, name, next, text) {name, next},

static const struct states_row exchange_rows[] = {EXCHANGE_STATES(ROW)};
static const struct states_row written_rows[] = {WRITTEN_STATES(ROW)};
static const struct states_row sending_rows[] = {SENDING_STATES(ROW)};
static const struct states_row time_rows[] = {TIME_STATES(ROW)};

const struct states fastcgi_exchange_states = {"exchange", EXCHANGE_STATE_COUNT, exchange_rows};
const struct states fastcgi_written_states = {"records", WRITTEN_STATE_COUNT, written_rows};
const struct states fastcgi_sending_states = {"request", SENDING_STATE_COUNT, sending_rows};
const struct states fastcgi_time_states = {"time", TIME_STATE_COUNT, time_rows};
