/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPRESS_LOAD_H
#define COMPRESS_LOAD_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Is a worker busy? It is if its thread had a CPU for three quarters of the time between the last two measurements, which are at
 * least a quarter of a second apart.
 */

enum { LOAD_SPAN_MS = 250, LOAD_BUSY_PERCENT = 75 };

/** Zeroed at first: not busy. */
struct load {
    int64_t at_ms, spent_ms; /* at the last measurement */
    bool is_busy;
};

/** Is it time to measure? @param now_ms  monotonic */
bool compress_load_is_due(const struct load *l, int64_t now_ms);

/** @param spent_ms  CPU time of the thread so far */
void compress_load_measure(struct load *l, int64_t now_ms, int64_t spent_ms);

#endif
