/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETTINGS_FAULT_H
#define MK_SETTINGS_FAULT_H

#include "settings/tree.h"

/*
 * Everything that is wrong with a configuration, gathered in one run instead of stopping at the
 * first.
 */

struct mk_fault {
    struct mk_fault *next;
    struct mk_origin at;
    const char *message; /* what is wrong and what was expected; one sentence without full stop */
    bool is_warning;
};

struct mk_faults {
    struct mk_arena *arena; /* borrowed; copies of origins' texts are not made */
    struct mk_fault *first, *last;
    size_t count; /* errors; may exceed what is kept (MK_LIMIT_CONF_FAULTS) */
    size_t warnings;
    bool no_memory; /* a fault could not be kept: the configuration is refused all the same */
    /**
     * More about a name that a table has not, from who knows all tables: "it belongs to [SERVER]".
     * @param key  p NULL: the section itself is unknown
     * @return a clause; "": the key is no fault, another table has it for the same section; NULL: nothing is known. The
     *         member is NULL where nobody knows more.
     */
    const char *(*explain)(const struct mk_faults *faults, struct mk_str section,
                           struct mk_str key);
    const void *explain_arg;
    /** Further names of sections that may be meant: name and anything by turns, each with its NUL, then an empty name; NULL: none. */
    const char *sections;
};

void mk_faults_init(struct mk_faults *f, struct mk_arena *arena);

/** Note an error. at may be NULL when there is no place to name. */
void mk_fault_add(struct mk_faults *f, const struct mk_origin *at, const char *fmt, ...)
    MK_PRINTF(3, 4);
/** Note a warning: shown, but nothing is refused. */
void mk_fault_warn(struct mk_faults *f, const struct mk_origin *at, const char *fmt, ...)
    MK_PRINTF(3, 4);

/**
 * Write one fault for people:
 *
 *     conf/monkey.conf:12:5: error: unknown key "Tiemout" in [SERVER]; did you mean "Timeout"?
 *         Tiemout 15
 *         ^
 *
 * Control and non-ASCII bytes of the line are escaped and a long line is clipped round the column.
 * @return text in the arena, ending in a newline, or NULL without memory.
 */
char *mk_fault_text(const struct mk_fault *fault, struct mk_arena *arena);

#endif
