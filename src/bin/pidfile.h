/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_PIDFILE_H
#define MK_BIN_PIDFILE_H

#include <monkey/types.h>

/* The file with our process id, locked while we live, so that a stale one is known from a real one. */

struct mk_pidfile {
    char *path; /* owned; NULL: there is none */
    int fd;
};

/**
 * Take the file and write our pid into it.
 * @param path  NULL: no file, which is fine
 * @return 0, or -1 after telling why: another process holds it, it is a link or no regular file, ...
 */
int mk_pidfile_take(struct mk_pidfile *file, const char *path) MK_MUST_USE;

/** Remove the file, if it is still ours. */
void mk_pidfile_remove(struct mk_pidfile *file);

/** In a child: the file is its parent's. */
void mk_pidfile_leave(struct mk_pidfile *file);

#endif
