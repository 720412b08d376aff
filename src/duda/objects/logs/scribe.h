/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_SCRIBE_H
#define MK_DUDA_OBJECTS_SCRIBE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A thread that appends texts to files, so that whoever logs never waits for a disk. Each file has a queue of bounded
 * size; what finds no room there is lost and counted.
 */

enum { MK_DUDA_QUEUE_MAX = 256 * 1024 }; /* bytes that wait for one file */

struct mk_duda_scribe;
struct mk_duda_file_queue;

/** @return a scribe without files; NULL without memory. */
struct mk_duda_scribe *mk_duda_scribe_new(void);
/** Write what waits, close the files and free the scribe. NULL is allowed. */
void mk_duda_scribe_free(struct mk_duda_scribe *scribe);
/** The same, but the memory stays: what other threads add from now on is lost. */
void mk_duda_scribe_end(struct mk_duda_scribe *scribe);

/**
 * Add a file.
 * @param path  copied; opened for appending before the first text is written, and never through a symbolic link
 * @param fd    the file already opened, taken, also on failure; -1: the scribe opens it
 * @return the queue, which lives as long as the scribe; NULL without memory.
 */
struct mk_duda_file_queue *mk_duda_scribe_add(struct mk_duda_scribe *scribe, const char *path,
                                              int fd);

/** Append a text, whole or not at all. Any thread. @return false: lost. */
bool mk_duda_queue_put(struct mk_duda_file_queue *queue, const char *text, size_t len);

/** Open a file for appending: a regular file of this user, made with mode 0600, not a symbolic link. @return a descriptor; -1. */
int mk_duda_open_log(const char *path);

#endif
