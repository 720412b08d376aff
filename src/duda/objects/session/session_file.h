/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_SESSION_FILE_H
#define MK_DUDA_OBJECTS_SESSION_FILE_H

#include "kit/sessions/sessions.h"

/*
 * The values of sessions in a file of SQLite, so that they survive a restart. Its library is opened when a file is: a server
 * without one does not load it.
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

/** What sessions_keep() takes with it. */
extern const struct sessions_file mk_duda_session_file;

#endif
