/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_ID_H
#define TRACE_ID_H

#include <stdint.h>

/*
 * Ids of requests that a person can read out and a program can sort: 26 digits and capital letters without I, L, O and U, as in
 * 01KB6Q3S8W0000F3ZK9V1XN7QT. They are ULIDs (https://github.com/ulid/spec): the time, then what tells requests of that time
 * apart, in Crockford's base 32. Pure.
 */

enum { TRACE_ID_TEXT = 26 };

/** Requests of one worker within a millisecond are counted, so that their ids sort too. Zeroed at first. */
struct trace_counter {
    int64_t ms; /* since 1970 */
    uint16_t count;
};

/**
 * Write the next id of a worker.
 * @param now_ms  since 1970; a clock that went back, or more than 65,536 requests in a millisecond, make the ids go on from the
 *                latest time
 * @param random  64 random bits, by which ids of other workers and servers differ
 */
void trace_id_write(char dst[TRACE_ID_TEXT], struct trace_counter *c, int64_t now_ms,
                    uint64_t random);

#endif
