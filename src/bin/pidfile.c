/* SPDX-License-Identifier: Apache-2.0 */
#include "pidfile.h"

#include "guarded_open.h"
#include "paths.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PID_MODE = 0644, TRIES = 10 };

static void refuse_open(const char *path)
{
    if (errno == ELOOP)
        mk_report("PidFile %s: is a symbolic link, which is not followed", path);
    else if (errno == ENOENT)
        mk_report("PidFile %s: its directory does not exist", path);
    else
        mk_report("PidFile %s: %s", path, mk_errno_text());
}

static void refuse_lock(const struct mk_pidfile *file)
{
    char text[16] = "";
    int pid;

    if (errno != EWOULDBLOCK) {
        mk_report("PidFile %s: cannot be locked: %s", file->path, mk_errno_text());
        return;
    }
    pid = read(file->fd, text, sizeof(text) - 1) > 0 ? (int)strtoul(text, NULL, 10) : 0;
    if (pid > 0)
        mk_report("PidFile %s: process %d, another server, has locked it", file->path, pid);
    else
        mk_report("PidFile %s: another server is starting or stopping with it", file->path);
}

/* Is what we have open what the name leads to? Its last owner may have removed it just before we got the lock. */
static bool is_current(const struct mk_pidfile *file)
{
    struct stat ours, named;

    return fstat(file->fd, &ours) == 0 && lstat(file->path, &named) == 0 &&
           ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

/* @return 1: locked; 0: the file vanished meanwhile; -1: refused. */
static int open_and_lock(struct mk_pidfile *file)
{
    file->fd = mk_guarded_open(file->path, O_RDWR | O_CREAT, PID_MODE, NULL);
    if (file->fd < 0) {
        refuse_open(file->path);
        return -1;
    }
    if (flock(file->fd, LOCK_EX | LOCK_NB) < 0) {
        refuse_lock(file);
        return -1;
    }
    if (is_current(file))
        return 1;
    close(file->fd);
    file->fd = -1;
    return 0;
}

static int write_pid(struct mk_pidfile *file)
{
    char text[16];
    int len = snprintf(text, sizeof(text), "%d\n", (int)getpid());

    errno = ENOSPC; /* what a short write means */
    if (ftruncate(file->fd, 0) == 0 && write(file->fd, text, (size_t)len) == len)
        return 0;
    mk_report("PidFile %s: cannot be written: %s", file->path, mk_errno_text());
    mk_pidfile_remove(file);
    return -1;
}

int mk_pidfile_take(struct mk_pidfile *file, const char *path)
{
    int locked = 0;

    *file = (struct mk_pidfile){.fd = -1};
    if (!path)
        return 0;
    file->path = mk_path_absolute(path);
    for (int i = 0; file->path && locked == 0 && i < TRIES; i++)
        locked = open_and_lock(file);
    if (locked > 0)
        return write_pid(file);
    if (locked == 0)
        mk_report("PidFile %s: cannot be taken", path);
    mk_pidfile_leave(file);
    return -1;
}

void mk_pidfile_remove(struct mk_pidfile *file)
{
    if (file->path && is_current(file) && unlink(file->path) < 0 && ftruncate(file->fd, 0) < 0)
        mk_report("PidFile %s: cannot be removed: %s", file->path, mk_errno_text());
    mk_pidfile_leave(file);
}

void mk_pidfile_leave(struct mk_pidfile *file)
{
    if (file->fd >= 0)
        close(file->fd);
    free(file->path);
    *file = (struct mk_pidfile){.fd = -1};
}
