/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETUP_EXPLAIN_H
#define MK_SETUP_EXPLAIN_H

#include "settings/fault.h"

/* The sentences that help those who know other servers, or Monkey 1. */

/** For mk_faults.explain, with a snapshot as its argument, whose plugins are loaded or not yet. */
const char *mk_explain_name(const struct mk_faults *faults, struct mk_str section,
                            struct mk_str key);

/** What became of a plugin of Monkey 1; NULL: there was none of that name, or no memory. */
const char *mk_explain_plugin(struct mk_str name, struct mk_arena *arena);

#endif
