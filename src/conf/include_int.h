/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CONF_INCLUDE_INT_H
#define MK_CONF_INCLUDE_INT_H

#include "base/arena.h"

#include <stdbool.h>

/* From what stands behind @INCLUDE to paths of files. */

/** Does it hold `*`, `?` or `[`? */
bool mk_include_is_glob(struct mk_str pattern);

/** @return the part of a path up to and with its last slash, maybe empty; borrowed. */
struct mk_str mk_include_dir(const char *path);

/** @return the path seen from dir (ends in a slash, or is empty), in the arena, or NULL without memory. */
char *mk_include_path(struct mk_arena *arena, struct mk_str dir, struct mk_str path);

/**
 * The files that match, sorted by name; without backups (ending in `~`) and hidden files.
 * @param paths  out: in the arena
 * @return how many, or MK_E_NOMEM, MK_E_ACCESS (a directory could not be searched).
 */
int mk_include_expand(struct mk_arena *arena, struct mk_str dir, struct mk_str pattern,
                      const char *const **paths);

#endif
