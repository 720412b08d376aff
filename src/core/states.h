/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CORE_STATES_H
#define MK_CORE_STATES_H

#include "core/log.h"

#include <stdint.h>

/*
 * State machines are tables: rows of an X-macro with a name, the states that may follow and a sentence. One function
 * of each machine changes its state; it traces the change, and in builds for debugging and with sanitizers it holds
 * the change against the table.
 */
struct mk_states {
    const char *what;         /* begins a line of the trace: "connection" */
    const char *id;           /* the key of its number: "conn" */
    const char *const *names; /* of the states */
    const uint32_t *follow;   /* bit i: state i may follow */
    unsigned count;
    enum mk_log_component in; /* whose trace shows it */
};

/** May one state follow the other? A state does not follow itself. */
static inline bool mk_states_allow(const struct mk_states *states, unsigned from, unsigned to)
{
    return from < states->count && to < states->count && (states->follow[from] & (1U << to));
}

/** Log a change at level trace, once mk_log_traces has said that it is wanted. @param part  of the one with this id: its request, counted from 1; 0: none */
void mk_states_trace(const struct mk_states *states, struct mk_log *log, uint64_t id, unsigned part,
                     unsigned from, unsigned to) __attribute__((cold));

#endif
