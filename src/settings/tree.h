/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETTINGS_TREE_H
#define MK_SETTINGS_TREE_H

#include "base/arena.h"

#include <monkey/settings.h>

#include <stdbool.h>

/*
 * Settings as they were written, before they mean anything: sections of key and value with the
 * place each came from. Text readers, the command line and C callers all build these.
 */

struct mk_section {
    struct mk_section *next;
    struct mk_str name; /* as written */
    struct mk_origin at;
    struct mk_setting *first, *last;
};

/** One source of settings: a file with its includes, or the command line. Everything in it lives in arena. */
struct mk_tree {
    struct mk_arena *arena; /* borrowed */
    struct mk_section *first, *last;
    const char *file; /* for messages about the whole; NULL: it is not of one file */
};

void mk_tree_init(struct mk_tree *t, struct mk_arena *arena);

/** Add a section at the end; name is copied. @return it, or NULL without memory. */
struct mk_section *mk_tree_add_section(struct mk_tree *t, struct mk_str name,
                                       const struct mk_origin *at);

/** Add a setting at the end of a section; key and value are copied. @return it, or NULL without memory. */
struct mk_setting *mk_tree_add(struct mk_tree *t, struct mk_section *s, struct mk_str key,
                               struct mk_str value, const struct mk_origin *key_at,
                               const struct mk_origin *value_at);

/** The first section of this name (any case) at or after from; NULL when there is none. */
struct mk_section *mk_section_find(struct mk_section *from, struct mk_str name);

/** The first setting of a key in the sections of a name, both in any case; NULL: it was not written. */
const struct mk_setting *mk_tree_find(const struct mk_tree *t, const char *section,
                                      const char *key);

/** The place of the first value of this key (any case), for messages. The key must be there. */
const struct mk_origin *mk_tree_place(const struct mk_tree *t, const char *section,
                                      const char *key);

#endif
