/* SPDX-License-Identifier: Apache-2.0 */
#include "guarded_open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 16, COMPONENTS_MAX = 512 };

struct walk {
    int dir;             /* where we are */
    bool trusted;        /* nobody else can change what the way here leads to */
    bool sticky;         /* as in /tmp: others may add names here, but not touch ours */
    unsigned links;      /* followed so far */
    char rest[PATH_MAX]; /* still to go */
};

static bool is_ours(uid_t owner)
{
    return owner == 0 || owner == geteuid();
}

/* Can nobody else put something in the place of this entry of the directory where we are? */
static bool is_safe_entry(const struct walk *w, const struct stat *entry)
{
    return w->trusted || (w->sticky && is_ours(entry->st_uid));
}

/* safe: what leads to the directory st is what we were meant to find. */
static void judge(struct walk *w, const struct stat *st, bool safe)
{
    w->trusted = safe && is_ours(st->st_uid) && !(st->st_mode & (S_IWGRP | S_IWOTH));
    w->sticky = safe && is_ours(st->st_uid) && (st->st_mode & S_ISVTX);
}

/* Go on from the directory fd, which is taken. */
static void enter(struct walk *w, int fd, const struct stat *st, bool safe)
{
    if (w->dir >= 0)
        close(w->dir);
    w->dir = fd;
    judge(w, st, safe);
}

static int start(struct walk *w)
{
    struct stat st;
    int fd = open(w->rest[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) < 0) {
        close(fd);
        return -1;
    }
    enter(w, fd, &st, true);
    return 0;
}

static const char *skip_slashes(const char *path)
{
    while (*path == '/')
        path++;
    return path;
}

/* Take the next component off the rest. */
static void next_name(struct walk *w, char name[NAME_MAX + 2])
{
    const char *from = skip_slashes(w->rest);
    size_t len = strcspn(from, "/");
    /* A name too long for any file system stays so; the file system will say it. */
    size_t copied = len <= NAME_MAX ? len : NAME_MAX + 1;

    memcpy(name, from, copied);
    name[copied] = '\0';
    from = skip_slashes(from + len);
    memmove(w->rest, from, strlen(from) + 1);
}

/* Put the target of the link fd before the rest of the way. */
static int follow(struct walk *w, int fd, const struct stat *st)
{
    char target[PATH_MAX], rest[PATH_MAX];
    ssize_t len = readlinkat(fd, "", target, sizeof(target) - 1);

    if (len < 0)
        return -1;
    target[len] = '\0';
    if (++w->links > LINKS_MAX || (!w->trusted && !(is_ours(st->st_uid) && st->st_nlink == 1))) {
        errno = ELOOP;
        return -1;
    }
    memcpy(rest, w->rest, strlen(w->rest) + 1);
    if (snprintf(w->rest, sizeof(w->rest), "%s%s%s", target, rest[0] ? "/" : "", rest) >=
        (int)sizeof(w->rest)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return target[0] == '/' ? start(w) : 0;
}

/* Into a directory, or over a link. */
static int step(struct walk *w, const char *name)
{
    struct stat st;
    int fd = openat(w->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), result;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) < 0) {
        result = -1;
    } else if (S_ISDIR(st.st_mode)) {
        enter(w, fd, &st, is_safe_entry(w, &st));
        return 0;
    } else if (S_ISLNK(st.st_mode)) {
        result = follow(w, fd, &st);
    } else {
        errno = ENOTDIR;
        result = -1;
    }
    close(fd);
    return result;
}

static bool is_acceptable(const struct walk *w, const struct stat *st, int flags)
{
    if (flags & O_DIRECTORY)
        return S_ISDIR(st->st_mode);
    if (!w->trusted && st->st_nlink > 1)
        return false;
    return S_ISREG(st->st_mode) || ((flags & O_ACCMODE) == O_WRONLY && S_ISFIFO(st->st_mode));
}

static int open_last(struct walk *w, const char *name, int flags, mode_t mode)
{
    struct stat st;
    int fd = openat(w->dir, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && is_acceptable(w, &st, flags)) {
        if (S_ISDIR(st.st_mode))
            judge(w, &st, is_safe_entry(w, &st));
        return fd;
    }
    close(fd);
    errno = EACCES;
    return -1;
}

static int walk(struct walk *w, int flags, mode_t mode)
{
    char name[NAME_MAX + 2];

    for (int i = 0; i < COMPONENTS_MAX; i++) {
        next_name(w, name);
        if (w->rest[0] == '\0') {
            int fd = open_last(w, name[0] ? name : ".", flags, mode);

            if (fd >= 0 || (errno != ELOOP && errno != ENOTDIR) || (flags & O_ACCMODE) != O_RDONLY)
                return fd;
        }
        if (step(w, name) < 0)
            return -1;
    }
    errno = ENAMETOOLONG;
    return -1;
}

int mk_guarded_open(const char *path, int flags, mode_t mode, bool *trusted)
{
    struct walk w = {.dir = -1};
    int fd = -1, err;

    if (snprintf(w.rest, sizeof(w.rest), "%s", path) >= (int)sizeof(w.rest))
        errno = ENAMETOOLONG;
    else if (start(&w) == 0)
        fd = walk(&w, flags, mode);
    err = errno;
    if (w.dir >= 0)
        close(w.dir);
    if (trusted)
        *trusted = w.trusted;
    errno = err;
    return fd;
}
