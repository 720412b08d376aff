/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/upstream.h>

#include "base/heap.h"
#include "core/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct mk_spool {
    size_t memory; /* bytes that stay in memory: the first ones */
    size_t cap;    /* bytes that it has room for now */
    uint64_t max, size;
    char *bytes;
    int fd; /* of the rest; -1: there is none */
    char dir[];
};

enum { FIRST_ROOM = 4096 };

struct mk_spool *mk_spool_new(size_t memory, uint64_t max, const char *dir)
{
    size_t len = strlen(dir);
    struct mk_spool *s = mk_heap_zalloc(1, sizeof(*s) + len + 1);

    if (!s)
        return NULL;
    s->memory = memory;
    s->max = max < INT64_MAX ? max : INT64_MAX;
    s->fd = -1;
    memcpy(s->dir, dir, len);
    return s;
}

void mk_spool_free(struct mk_spool *s)
{
    if (!s)
        return;
    mk_fd_close(&s->fd);
    mk_heap_free(s->bytes);
    mk_heap_free(s);
}

/* ---- the part in memory ---- */

static size_t in_memory(const struct mk_spool *s)
{
    return s->size < s->memory ? (size_t)s->size : s->memory;
}

/** Room for that many bytes in all; it grows by doubling. */
static int make_room(struct mk_spool *s, size_t wanted)
{
    size_t cap = s->cap ? s->cap : FIRST_ROOM;
    char *larger;

    if (wanted <= s->cap)
        return 0;
    while (cap < wanted && cap <= s->memory / 2)
        cap *= 2;
    if (cap < wanted || cap > s->memory)
        cap = s->memory;
    larger = mk_heap_resize(s->bytes, cap);
    if (!larger)
        return MK_E_NOMEM;
    s->bytes = larger;
    s->cap = cap;
    return 0;
}

/* ---- the part in a file ---- */

/** A file that has a name for a moment, where the file system cannot make one without. */
static int open_unlinked(const char *dir)
{
    static const char tail[] = "/monkey-XXXXXX";
    char name[4096];
    size_t len = strlen(dir);
    int fd;

    if (len + sizeof(tail) > sizeof(name))
        return MK_E_INVALID;
    memcpy(name, dir, len);
    memcpy(name + len, tail, sizeof(tail));
    fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        return mk_error_from_errno(errno);
    (void)unlink(name);
    return fd;
}

/** EISDIR is what kernels before 3.11 say, EOPNOTSUPP what file systems without it say. */
static int open_file(struct mk_spool *s)
{
    if (s->fd >= 0)
        return 0;
    s->fd = open(s->dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
    if (s->fd >= 0)
        return 0;
    if (errno != EOPNOTSUPP && errno != EISDIR)
        return mk_error_from_errno(errno);
    s->fd = open_unlinked(s->dir);
    return s->fd < 0 ? s->fd : 0;
}

static int write_file(const struct mk_spool *s, uint64_t at, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = pwrite(s->fd, bytes, len, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return MK_E_SYS;
        bytes += n;
        len -= (size_t)n;
        at += (uint64_t)n;
    }
    return 0;
}

static ssize_t read_file(const struct mk_spool *s, uint64_t at, char *dst, size_t len)
{
    size_t have = 0;

    while (have < len) {
        ssize_t n = pread(s->fd, dst + have, len - have, (off_t)(at + have));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) /* the file is ours alone: it cannot end early but by a fault of the disk */
            return MK_E_SYS;
        have += (size_t)n;
    }
    return (ssize_t)have;
}

/* ---- both ---- */

int mk_spool_write(struct mk_spool *s, const char *bytes, size_t len)
{
    size_t at = in_memory(s), room = s->memory - at, near = len < room ? len : room;
    int err = 0;

    if (len > s->max - s->size)
        return MK_E_LIMIT;
    if (near > 0)
        err = make_room(s, at + near);
    if (err == 0 && near < len)
        err = open_file(s);
    if (err == 0 && near < len)
        err = write_file(s, s->size + near - s->memory, bytes + near, len - near);
    if (err < 0)
        return err;
    if (near > 0)
        memcpy(s->bytes + at, bytes, near);
    s->size += len;
    return 0;
}

ssize_t mk_spool_read(const struct mk_spool *s, uint64_t at, char *dst, size_t len)
{
    size_t held = in_memory(s), near = 0;
    ssize_t far = 0;

    if (at >= s->size)
        return 0;
    if (len > s->size - at)
        len = (size_t)(s->size - at);
    if (at < held) {
        near = len < held - at ? len : held - (size_t)at;
        memcpy(dst, s->bytes + at, near);
    }
    if (near < len)
        far = read_file(s, at + near - s->memory, dst + near, len - near);
    return far < 0 ? far : (ssize_t)near + far;
}

uint64_t mk_spool_size(const struct mk_spool *s)
{
    return s->size;
}
