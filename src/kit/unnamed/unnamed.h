/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_UNNAMED_H
#define KIT_UNNAMED_H

#include <stdbool.h>
#include <stddef.h>

/* Temporary files without a name: they end with their descriptor, also after a crash. */

/** @return a descriptor for reading and writing, owned by the caller; -1: errno says why */
int unnamed_open(const char *dir);

/** Write all of it at the file's offset. @return false: errno says why, ENOSPC for example */
bool unnamed_write(int fd, const char *bytes, size_t len);

#endif
