/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_SOURCE_H
#define WR_SOURCE_H

#include <dirent.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * Read a file of the kernel whole.
 * @param dir   descriptor of the folder that name is relative to, or AT_FDCWD
 * @param text  caller's; ends with NUL; what does not fit is cut
 * @return its length, or -1 with errno: ENOENT and ESRCH say that the process is gone
 */
ssize_t source_read(int dir, const char *name, char *text, size_t size);

/**
 * The same with a name that is put together, into a buffer of this module that the next call overwrites.
 * @return the text, or NULL with errno; a file without a byte is none: ENODATA
 */
const char *source_text(int dir, const char *name, ...) __attribute__((format(printf, 2, 3)));

/** Open a folder to list it. @return NULL with errno; else closedir() */
DIR *source_folder(int dir, const char *name);

#endif
