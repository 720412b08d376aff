/* SPDX-License-Identifier: Apache-2.0 */
#include "core/file.h"

#include "core/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    READ_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
    ROOT_FLAGS = O_PATH | O_DIRECTORY | O_CLOEXEC,
};

static int open_openat2(int root_fd, const char *path, int flags, uint64_t resolve)
{
    struct open_how how = {.flags = (uint64_t)flags, .resolve = resolve};

    return (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
}

bool mk_file_has_openat2(void)
{
    int fd = open_openat2(AT_FDCWD, "/", READ_FLAGS, 0);

    if (fd < 0)
        return false;
    mk_fd_close(&fd);
    return true;
}

/* openat calls a link in place of a directory none (ENOTDIR), openat2 a link (ELOOP): as that one does. */
static int open_directory(int dir, const char *name)
{
    int fd = openat(dir, name, O_NOFOLLOW | O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat st;

    if (fd < 0 && errno == ENOTDIR)
        errno = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode) ? ELOOP
                                                                                         : ENOTDIR;
    return fd;
}

/* One directory after the other, none of them a link. */
static int open_by_components(int root_fd, const char *path, int flags)
{
    char name[NAME_MAX + 1];
    int dir = root_fd;

    for (;;) {
        size_t len = strcspn(path, "/");
        bool is_last = path[len] == '\0';
        int fd, saved;

        if (len > NAME_MAX) {
            fd = -1;
            errno = ENAMETOOLONG;
        } else {
            memcpy(name, len ? path : ".", len ? len : 1);
            name[len ? len : 1] = '\0';
            fd = is_last ? openat(dir, name, O_NOFOLLOW | flags) : open_directory(dir, name);
        }
        saved = errno;
        if (dir != root_fd)
            mk_fd_close(&dir);
        errno = saved;
        if (fd < 0 || is_last)
            return fd;
        dir = fd;
        path += len + 1;
    }
}

static int error_of_open(int err)
{
    switch (err) {
    case EXDEV: /* out of the root */
        return MK_E_ACCESS;
    case ENAMETOOLONG:
    case ENXIO: /* a socket */
    case ENODEV:
        return MK_E_NOENT;
    default:
        return mk_error_from_errno(err);
    }
}

int mk_file_facts_of(int fd, struct mk_file_facts *facts)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return mk_error_from_errno(errno);
    *facts = (struct mk_file_facts){
        .size = (uint64_t)st.st_size,
        .mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
        .ctime_ns = (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec,
        .ino = st.st_ino,
        .dev = st.st_dev,
        .mode = st.st_mode,
        .uid = st.st_uid,
    };
    return 0;
}

static int finish_open(int fd, struct mk_file_facts *facts)
{
    int err;

    if (fd < 0)
        return error_of_open(errno);
    err = mk_file_facts_of(fd, facts);
    if (err < 0) {
        mk_fd_close(&fd);
        return err;
    }
    return fd;
}

static int open_beneath(int root_fd, const char *path, int flags, bool symlinks, bool openat2)
{
    if (*path == '\0')
        path = ".";
    if (symlinks)
        return openat(root_fd, path, flags);
    if (openat2)
        return open_openat2(root_fd, path, flags,
                            RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
    return open_by_components(root_fd, path, flags);
}

int mk_file_open_beneath(int root_fd, const char *path, bool symlinks, bool openat2,
                         struct mk_file_facts *facts)
{
    return finish_open(open_beneath(root_fd, path, READ_FLAGS, symlinks, openat2), facts);
}

int mk_file_open_root(const char *path, struct mk_file_facts *facts)
{
    return finish_open(open(path, ROOT_FLAGS), facts);
}

int mk_file_open_root_beneath(const char *dir, const char *path, bool symlinks, bool openat2,
                              struct mk_file_facts *facts)
{
    int dir_fd = open(dir, ROOT_FLAGS), fd;

    if (dir_fd < 0)
        return error_of_open(errno);
    fd = finish_open(open_beneath(dir_fd, path, ROOT_FLAGS, symlinks, openat2), facts);
    mk_fd_close(&dir_fd);
    return fd;
}

bool mk_file_is_same(const struct mk_file_facts *a, const struct mk_file_facts *b)
{
    return a->ino == b->ino && a->dev == b->dev && a->size == b->size &&
           a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns && a->mode == b->mode;
}
