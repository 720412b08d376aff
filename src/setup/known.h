/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETUP_KNOWN_H
#define MK_SETUP_KNOWN_H

#include <stdbool.h>

/*
 * Sections, and keys for [HOST] and [LOCATION], of the plugins of this project; the server's own sections are as liana's.
 * tools/known_sections reads them out of their tables when the library is built.
 */

struct mk_known {
    const char *name, *plugin;
};

/** By name: name and plugin by turns, each with its NUL, and an empty name at the end. No pointers, which take relocations. */
extern const char mk_known_sections[], mk_known_keys[];

/** Walk one of them. @param at  it itself at first. @return false: no row is left. */
bool mk_known_next(const char **at, struct mk_known *row);

#endif
