/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_KIT_STATES_WALK_H
#define TESTS_KIT_STATES_WALK_H

/*
 * Ways through a table of states, written a second time: a table that allows more or less than its ways need fails. Behind
 * cmocka.h.
 */

#include "kit/states/states.h"

#include <string.h>

struct way {
    const char *what; /* NULL ends a list of ways */
    const char *names[11];
};

static unsigned state_of(const struct states *table, const char *name)
{
    for (unsigned i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].name, name) == 0)
            return i;
    }
    fail_msg("%s: no state %s", table->of, name);
    return 0;
}

static void walk(const struct states *table, const struct way *way, unsigned *seen)
{
    for (unsigned i = 0; way->names[i + 1]; i++) {
        unsigned from = state_of(table, way->names[i]), to = state_of(table, way->names[i + 1]);

        if (!states_may(table, from, to))
            fail_msg("%s: %s may not follow %s", way->what, way->names[i + 1], way->names[i]);
        seen[from] |= 1U << to;
    }
}

/* Each way is allowed, and no step is allowed that is on none. */
static void check_ways(const struct states *table, const struct way *ways)
{
    unsigned seen[32] = {0};

    for (; ways->what; ways++)
        walk(table, ways, seen);
    for (unsigned from = 0; from < table->count; from++) {
        for (unsigned to = 0; to < table->count; to++) {
            bool may = states_may(table, from, to);

            if (may != (seen[from] >> to & 1))
                fail_msg("%s: from %s to %s is %s", table->of, table->rows[from].name,
                         table->rows[to].name, may ? "allowed, and on no way" : "on a way");
        }
    }
}

#endif
