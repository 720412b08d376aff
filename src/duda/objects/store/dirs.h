/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_DIRS_H
#define MK_DUDA_OBJECTS_DIRS_H

#include "objects/objects.h"

/* The directories of a service that it may change, by the calls of data and fconf. Any thread. */

/** Change a directory of ws to an existing one. Pointers to the old name stay valid as long as the service. @return 0; -1. */
int mk_duda_dir_set(struct web_service *ws, mk_pointer *dir, const char *path);
/** @return the directory with a slash at its end, borrowed; NULL: unset. */
const char *mk_duda_dir_get(struct web_service *ws, const mk_pointer *dir);
/** @return directory and name together, owned by the caller; NULL: unset, or without memory. */
char *mk_duda_dir_join(struct web_service *ws, const mk_pointer *dir, const char *name);

#endif
