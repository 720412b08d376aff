/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETUP_WANTS_H
#define MK_SETUP_WANTS_H

#include "setup/snapshot.h"

/*
 * Plugins that a configuration names without a Load line: by a section or a key of theirs, as a handler, or as a
 * transport or protocol of Listen.
 */

struct mk_want {
    struct mk_str name; /* of the plugin, or of a section */
    bool is_section;
    const struct mk_origin *at; /* where it is named first */
};

/** Add what a tree names to source->wants, in the order of its lines. @return 0 or MK_E_NOMEM. */
int mk_wants_gather(struct mk_snapshot_source *source, const struct mk_tree *tree,
                    struct mk_arena *arena) MK_MUST_USE;

/** The plugin of this project that has a key in [HOST] and [LOCATION]; NULL: none. */
const char *mk_wants_plugin_of_key(struct mk_str key);

#endif
