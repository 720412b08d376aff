/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_SESSION_FILE_H
#define MK_DUDA_OBJECTS_SESSION_FILE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The values of sessions in a file of SQLite, so that they survive a restart. Its library is opened when a file is: a server
 * without one does not load it. Calls are of one thread at a time.
 */

struct mk_duda_session_file;

/**
 * Open or make a file, which only its owner can read.
 * @param scope  the service: a file may have the sessions of several
 * @param why    out: on failure, the reason for people
 * @return NULL: there is no library, no such place, no memory, or the file is none of SQLite.
 */
struct mk_duda_session_file *mk_duda_session_file_open(const char *path, const char *scope,
                                                       char *why, size_t size);
void mk_duda_session_file_close(struct mk_duda_session_file *file);

/** A value of the file; texts are borrowed for the call. */
typedef void (*mk_duda_session_row_fn)(void *arg, const char *id, const char *name,
                                       const char *value, int64_t expires, int64_t used);
/** Call row for each value of this service, those that were unused longest first. */
void mk_duda_session_file_each(struct mk_duda_session_file *file, mk_duda_session_row_fn row,
                               void *arg);

/** Insert or replace. @return 0; -1: it is not in the file, for example because the disk is full. */
int mk_duda_session_file_put(struct mk_duda_session_file *file, const char *id, const char *name,
                             const char *value, int64_t expires, int64_t used);
void mk_duda_session_file_remove(struct mk_duda_session_file *file, const char *id,
                                 const char *name);
/** Remove the values that have expired: by a time of their own, or idle_s after their last use. */
void mk_duda_session_file_forget(struct mk_duda_session_file *file, int64_t idle_s, int64_t now);
/** The values of an identity go to another one. */
void mk_duda_session_file_rename(struct mk_duda_session_file *file, const char *from,
                                 const char *to);

#endif
