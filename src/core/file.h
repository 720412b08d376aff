/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CORE_FILE_H
#define MK_CORE_FILE_H

#include <monkey/types.h>

#include <stdbool.h>
#include <sys/stat.h>

/* Files below a root that they cannot leave. */

struct mk_file_facts {
    uint64_t size;
    int64_t mtime_ns, ctime_ns; /* since the epoch */
    uint64_t ino, dev;
    mode_t mode;
    uid_t uid;
};

/** Does the kernel (and whatever filters its calls) let us use openat2? Asked once at start. */
bool mk_file_has_openat2(void);

/**
 * Open for reading beneath a root, without blocking on FIFOs and the like.
 * @param root_fd   directory
 * @param path      terminated, relative, without `.` or `..` segments; "" is the root itself
 * @param symlinks  false: no component may be a symbolic link. True: links are followed wherever
 *                  they lead, outside the root too
 * @param openat2   what mk_file_has_openat2 said; false: component by component
 * @param facts     out: what was opened
 * @return a descriptor, or MK_E_NOENT, MK_E_ACCESS (also: a link that may not be followed), MK_E_NOFD,
 *         MK_E_NOMEM, MK_E_SYS.
 */
int mk_file_open_beneath(int root_fd, const char *path, bool symlinks, bool openat2,
                         struct mk_file_facts *facts) MK_MUST_USE;

/** Open a directory as a root. @return a descriptor or an error as above. */
int mk_file_open_root(const char *path, struct mk_file_facts *facts) MK_MUST_USE;

/**
 * Open a directory beneath another one as a root, as mk_file_open_beneath opens a file.
 * @param dir   may be reached by links
 * @param path  as there, from dir
 * @return a descriptor or an error as above.
 */
int mk_file_open_root_beneath(const char *dir, const char *path, bool symlinks, bool openat2,
                              struct mk_file_facts *facts) MK_MUST_USE;

/** What an open descriptor is now. @return 0 or an error. */
int mk_file_facts_of(int fd, struct mk_file_facts *facts) MK_MUST_USE;

/** Same object, not changed since: inode, device, size, mtime and ctime to the nanosecond. */
bool mk_file_is_same(const struct mk_file_facts *a, const struct mk_file_facts *b);

#endif
