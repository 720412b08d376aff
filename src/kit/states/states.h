/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_STATES_H
#define KIT_STATES_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * State machines of plugins are tables: a row is a name, the states that may follow it, and what it means. A plugin writes
 * them as X-macros
 *
 *     #define THING_STATES(X)                                                     \
 *         X(NEW, "new", THING_TO(OVER), "nothing has happened")                   \
 *         X(OVER, "over", 0, "nothing more will")
 *
 * of which it makes an enum, and the rows. One function of its own changes each state, by states_turn.
 */
struct states_row {
    const char *name;
    unsigned next; /* a bit for each state that may follow */
};

struct states {
    const char *of; /* what has the state, as logs say it */
    unsigned count; /* at most 32 */
    const struct states_row *rows;
};

/** May this state follow that one? */
static inline bool states_may(const struct states *table, unsigned from, unsigned to)
{
    return table->rows[from].next >> to & 1;
}

/** Log a change of a state, at level trace. @param of  whose state it is */
typedef void (*states_log_fn)(const void *of, const struct states *table, unsigned was,
                              unsigned is);

/** Change a state. Builds with assertions stop at a change that the table does not have. @param log  NULL: nobody reads it */
static inline void states_turn(const struct states *table, uint8_t *state, unsigned to,
                               states_log_fn log, const void *of)
{
    assert(states_may(table, *state, to));
    if (__builtin_expect(log != NULL, 0))
        log(of, table, *state, to);
    *state = (uint8_t)to;
}

#endif
