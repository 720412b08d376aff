/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CORE_STATES_H
#define MK_CORE_STATES_H

#include "core/log.h"

#include <stdint.h>

/*
 * State machines are tables: rows X(NAME, name, states that may follow, sentence, what the machine has beyond that). One
 * function of each machine changes its state; it traces the change, and in builds for debugging and with sanitizers it
 * holds the change against the table.
 *
 *     #define TO(name) (1U << MK_THING_##name)
 *     const struct mk_states mk_thing_states = {.what = "thing", .id = "conn", MK_STATES_OF(MK_THING_STATES)};
 */
struct mk_states {
    const char *what;         /* begins a line of the trace: "connection" */
    const char *id;           /* the key of its number: "conn" */
    enum mk_log_component in; /* whose trace shows it */
    unsigned count;           /* of the states, at most 16 */
    const char *names;        /* of the states, each with its NUL; no pointers to relocate */
    const uint16_t *follow;   /* bit i: state i may follow */
};

#define MK_STATE_ONE(...) +1
#define MK_STATE_NAME(name, text_name, ...) #text_name "\0"
#define MK_STATE_FOLLOW(name, text_name, follow, ...) follow,

/** The members of struct mk_states that come from rows, where TO(NAME) is the bit of a state. */
#define MK_STATES_OF(rows)                                                                         \
    .count = 0 rows(MK_STATE_ONE), .names = rows(MK_STATE_NAME), .follow = (const uint16_t[])      \
    {                                                                                              \
        rows(MK_STATE_FOLLOW)                                                                      \
    }

/** The name of a state, below count. */
const char *mk_states_name(const struct mk_states *states, unsigned state) __attribute__((cold));

/** May one state follow the other? A state does not follow itself. */
static inline bool mk_states_allow(const struct mk_states *states, unsigned from, unsigned to)
{
    return from < states->count && to < states->count && (states->follow[from] & (1U << to));
}

/** Log a change at level trace, once mk_log_traces has said that it is wanted. @param part  of the one with this id: its request, counted from 1; 0: none */
void mk_states_trace(const struct mk_states *states, struct mk_log *log, uint64_t id, unsigned part,
                     unsigned from, unsigned to) __attribute__((cold));

#endif
