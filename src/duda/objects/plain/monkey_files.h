/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_MONKEY_FILES_H
#define MK_DUDA_OBJECTS_MONKEY_FILES_H

#include "objects/objects.h"

/** @return the content of a regular file, terminated, owned by the caller; NULL: it cannot be read, or is above MK_DUDA_FILE_MAX. */
char *mk_duda_file_to_buffer(const char *path);
enum { MK_DUDA_FILE_MAX = 64 << 20 };

/** Describe a file as this process may use it. @return 0, or -1: there is none (all members are zero then). */
int mk_duda_file_get_info(const char *path, struct file_info *info);

#endif
