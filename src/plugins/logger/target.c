/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include "kit/clock/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

/* What kind of file is it? Whoever opened it may have done so for appending, which splice refuses. */
static void use_fd(struct logger_target *t, int fd)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);

    t->fd = fd;
    t->way = LOGGER_BY_WRITE;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        t->way = fcntl(fd, F_SETFL, flags & ~O_APPEND) == 0 ? LOGGER_BY_SPLICE : LOGGER_BY_PWRITE;
        t->at = st.st_size;
        t->midnight = t->at > 0 ? logger_rotate_midnight(st.st_mtime) : 0;
    } else {
        (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
        (void)fcntl(fd, F_SETPIPE_SZ, LOGGER_PIPE_SIZE); /* a fifo: its reader may pause */
    }
}

struct logger_target *logger_target_make(const char *name, int fd, int priority)
{
    size_t len = strlen(name);
    struct logger_target *t = calloc(1, sizeof(*t) + len + 1);

    if (!t) {
        if (fd >= 0)
            (void)close(fd);
        return NULL;
    }
    memcpy(t->name, name, len);
    atomic_init(&t->next_fd, -1);
    t->fd = -1;
    t->way = LOGGER_BY_SYSLOG;
    t->priority = priority;
    if (fd >= 0)
        use_fd(t, fd);
    return t;
}

void logger_target_give(struct logger_target *t, logger_take_fn take, void *arg)
{
    t->way = LOGGER_BY_PROGRAM;
    t->take = take;
    t->take_arg = arg;
}

void logger_target_free(struct logger_target *t)
{
    int next = atomic_load(&t->next_fd);

    if (t->fd >= 0)
        (void)close(t->fd);
    if (next >= 0)
        (void)close(next);
    free(t);
}

void logger_target_renew(struct logger_target *t)
{
    int fd = atomic_exchange(&t->next_fd, -1);

    if (fd < 0)
        return;
    if (t->fd >= 0)
        (void)close(t->fd);
    use_fd(t, fd);
}

/* Others may have cut the file, or written to it: go on at its end, wherever that is now. */
static void find_end(struct logger_target *t)
{
    struct stat st;

    if (fstat(t->fd, &st) == 0)
        t->at = st.st_size;
}

/* A frame of which only a part found room shall not leave half a line behind. */
static void take_back(const struct logger_target *t)
{
    int saved = errno;

    (void)!ftruncate(t->fd, t->at);
    errno = saved;
}

/* @return whether all was written. */
static bool pwrite_all(struct logger_target *t, const char *bytes, size_t len)
{
    off_t at = t->at;

    while (len > 0) {
        ssize_t n = pwrite(t->fd, bytes, len, at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            take_back(t);
            return false;
        }
        bytes += n;
        len -= (size_t)n;
        at += n;
    }
    t->at = at;
    return true;
}

/* @return whether it takes bytes again before the patience of this round is used up. */
static bool wait_for(struct logger_target *t)
{
    struct pollfd p = {.fd = t->fd, .events = POLLOUT};
    int64_t began = clock_now_ms();
    bool ready = t->patience_ms > 0 && poll(&p, 1, t->patience_ms) > 0 && (p.revents & POLLOUT);

    t->patience_ms -= (int)(clock_now_ms() - began);
    return ready;
}

/* A fifo takes a frame whole or not at all; a terminal or device may take parts. */
static bool write_all(struct logger_target *t, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(t->fd, bytes, len);

        if (n < 0 && errno == EAGAIN) {
            if (wait_for(t))
                continue;
            errno = EAGAIN;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static bool syslog_all(struct logger_target *t, const char *bytes, size_t len)
{
    while (len > 0) {
        const char *end = memchr(bytes, '\n', len);
        size_t line = end ? (size_t)(end - bytes) : len;

        syslog(t->priority, "%.*s", (int)line, bytes);
        line += end != NULL;
        bytes += line;
        len -= line;
    }
    return true;
}

static bool give(const struct logger_target *t, const char *bytes, size_t len)
{
    t->take(t->take_arg, t->name, bytes, len);
    return true;
}

/* Read and write. The frame leaves the pipe even when it cannot be written. */
static int copy(struct logger_target *t, int pipe, size_t bytes, size_t *left)
{
    char frame[LOGGER_FRAME_MAX];
    ssize_t got = read(pipe, frame, bytes);
    bool done;

    if (got != (ssize_t)bytes) /* cannot be: frames are written whole */
        return EIO;
    *left = 0;
    if (t->way == LOGGER_BY_SYSLOG)
        done = syslog_all(t, frame, bytes);
    else if (t->way == LOGGER_BY_PROGRAM)
        done = give(t, frame, bytes);
    else if (t->way == LOGGER_BY_PWRITE)
        done = pwrite_all(t, frame, bytes);
    else
        done = write_all(t, frame, bytes);
    return done ? 0 : errno;
}

static int splice_all(struct logger_target *t, int pipe, size_t *left)
{
    loff_t at = t->at;

    while (*left > 0) {
        ssize_t n = splice(pipe, NULL, t->fd, &at, *left, SPLICE_F_MOVE);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            int err = n < 0 ? errno : EIO;

            take_back(t);
            return err;
        }
        *left -= (size_t)n;
    }
    t->at = at;
    return 0;
}

/* ---- rotation ---- */

static bool is_due(struct logger_target *t, size_t bytes)
{
    const struct logger_rotation *r = &t->rotation;
    time_t now;

    if (r->count == 0)
        return false;
    now = time(NULL);
    if (t->at == 0 || t->midnight == 0)
        t->midnight = logger_rotate_midnight(now);
    if (t->at == 0 || now < t->again)
        return false;
    return (r->size > 0 && t->at + (off_t)bytes > r->size) || (r->daily && now >= t->midnight);
}

static void rotate(struct logger_target *t)
{
    int fd = logger_rotate(&t->rotation, t->name);

    if (fd < 0) {
        t->rotate_error = t->again == 0 ? errno : 0; /* told once */
        t->again = time(NULL) + LOGGER_ROTATE_AGAIN_S;
        return;
    }
    t->again = 0;
    (void)close(t->fd);
    use_fd(t, fd);
}

void logger_target_round(struct logger_target *t)
{
    t->patience_ms = LOGGER_PATIENCE_MS;
}

int logger_target_write(struct logger_target *t, int pipe, size_t bytes, size_t *left)
{
    int err;

    *left = bytes;
    if (t->way == LOGGER_BY_SPLICE || t->way == LOGGER_BY_PWRITE) {
        find_end(t);
        if (is_due(t, bytes))
            rotate(t);
    }
    if (t->way != LOGGER_BY_SPLICE)
        return copy(t, pipe, bytes, left);
    err = splice_all(t, pipe, left);
    if (err != EINVAL || *left != bytes)
        return err;
    t->way = LOGGER_BY_PWRITE; /* some file systems cannot */
    return copy(t, pipe, bytes, left);
}
