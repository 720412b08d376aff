/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_FILES_FILES_INT_H
#define MK_SERVER_FILES_FILES_INT_H

#include "server/files/files.h"

/* Between files.c (the table), file_entry.c (what one entry holds) and file_root.c. */

/** Open and describe, with one reference for the caller, in no table. @return NULL without memory. */
struct mk_file *mk_file_open(const struct mk_files *f, struct mk_file_root *root,
                             struct mk_str path) MK_MUST_USE;

/** Take everything below a root out of the table. */
void mk_files_forget(struct mk_files *f, const struct mk_file_root *root);

/** A root that is not open yet; path is borrowed. */
void mk_file_root_init(struct mk_file_root *root, const struct mk_site *site, const char *path);
/** Open it, or look whether its path still leads to the same directory. */
void mk_file_root_check(const struct mk_files *f, struct mk_file_root *root, int64_t now_ms);
/** Free the roots of users, and the names of none. */
void mk_file_roots_free(struct mk_files *f);

#endif
