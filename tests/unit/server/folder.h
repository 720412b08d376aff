/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SERVER_FOLDER_H
#define TESTS_SERVER_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* A directory of files that goes away again. */

/** A new directory below /tmp; written to dir. */
void dir_make(char dir[32]);
/** With everything in it. */
void dir_remove(const char *dir);
/** len bytes of a pattern when bytes is NULL. Missing directories are made. */
void file_write(const char *dir, const char *name, const char *bytes, size_t len);
/** What file_write puts at an offset. */
char file_byte(size_t at);

/** True when a run may not pass because the process is root, for whom nothing is unreadable. */
bool is_root(void);

#endif
