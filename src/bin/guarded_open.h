/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_GUARDED_OPEN_H
#define MK_BIN_GUARDED_OPEN_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Opening files with more rights than those who may write the directories on the way there.
 * Whoever owns a directory could plant a symbolic link or a second name of some other file in it
 * and have root open that. So links are followed only where root or we made them, and a file
 * with several names is refused in a directory that others may change.
 */

/**
 * Open a regular file; for writing a FIFO too; with O_DIRECTORY a directory. Never blocks, never
 * becomes the controlling terminal, closes on exec. The last component may be a link only when
 * the file is opened for reading.
 * @param flags    as for open(2)
 * @param trusted  out, may be NULL: only root and we can change the directories on the way, and the one opened
 * @return a descriptor, or -1 with errno (ELOOP: a link that is not followed; EACCES: not such a file).
 */
int mk_guarded_open(const char *path, int flags, mode_t mode, bool *trusted);

#endif
