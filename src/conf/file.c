/* SPDX-License-Identifier: Apache-2.0 */
#include "conf/file_int.h"

#include "base/buf.h"
#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_SIZE = 16 << 10 };

static int plain_open(const char *path)
{
    /* O_NONBLOCK: a FIFO nobody writes to must not hold us */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    return fd < 0 ? mk_error_from_errno(errno) : fd;
}

static const char *reason(int err)
{
    switch (err) {
    case MK_E_NOENT:
        return "there is no such file";
    case MK_E_SYS:
        return "the system refuses";
    default:
        return mk_error_text(err);
    }
}

int mk_conf_file_open(const struct mk_conf_host *host, const char *path, struct mk_conf_file *f,
                      const char **why)
{
    struct stat st;

    f->fd = host ? host->open(host->arg, path) : plain_open(path);
    if (f->fd < 0) {
        *why = reason(f->fd);
        return f->fd;
    }
    if (fstat(f->fd, &st) < 0) {
        *why = reason(MK_E_SYS);
    } else if (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode)) { /* /dev/null is a fine empty file */
        f->dev = st.st_dev;
        f->ino = st.st_ino;
        return 0;
    } else {
        *why = S_ISDIR(st.st_mode) ? "is a directory, expected a file" : "it is not a file";
    }
    (void)close(f->fd);
    f->fd = -1;
    return MK_E_INVALID;
}

/* One read(2) more. @return bytes, 0 at the end, or an error. */
static ssize_t read_some(int fd, struct mk_buf *b)
{
    char *to = mk_buf_reserve(b, READ_SIZE);
    ssize_t n;

    if (!to)
        return b->error;
    do
        n = read(fd, to, READ_SIZE);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return mk_error_from_errno(errno);
    b->len += (size_t)n;
    return n;
}

int mk_conf_file_load(const struct mk_conf_file *f, struct mk_arena *arena, struct mk_str *text,
                      const char **why)
{
    struct mk_buf b;
    ssize_t n;
    int err = 0;

    mk_buf_init(&b, MK_LIMIT_CONF_FILE + 2 * READ_SIZE);
    do
        n = read_some(f->fd, &b);
    while (n > 0 && b.len <= MK_LIMIT_CONF_FILE);
    if (n < 0) {
        err = (int)n;
        *why = reason(err);
    } else if (n > 0) {
        err = MK_E_LIMIT;
        *why = "it is larger than 4 MB";
    } else {
        *text = (struct mk_str){mk_arena_strdup(arena, mk_buf_str(&b)), b.len};
        err = text->p ? 0 : MK_E_NOMEM;
    }
    mk_buf_fini(&b);
    return err;
}
