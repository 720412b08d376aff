/* SPDX-License-Identifier: Apache-2.0 */
#include "intake.h"

#include "pool.h"

#include <monkey/field.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 16 << 10 };

/* The client of `Expect: 100-continue` sends nothing before the first read (RFC 9110 section 10.1.1). */
static bool waits_for_100(const struct mk_request *r)
{
    struct mk_str expect = mk_request_header(r, MK_STR("Expect"));

    return mk_list_has_token(expect, MK_STR("100-continue"));
}

void mk_py_intake_init(struct mk_py_call *c, const struct mk_request *r)
{
    struct mk_py_input *in = &c->input;

    in->is_ended = c->content_length == 0;
    in->is_whole = !c->pool->is_streamed;
    in->is_wanted = in->is_whole || !waits_for_100(r);
}

/* ---- the file of a large body ---- */

static int open_spool(const char *dir)
{
    int fd = open(dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    char name[4096];

    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
        return fd;
    if (snprintf(name, sizeof(name), "%s/monkey-body-XXXXXX", dir) >= (int)sizeof(name))
        return -1;
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        (void)unlink(name);
    return fd;
}

/* A disk that is slower than the network delays the worker, as with every file that it serves. */
static int write_file(struct mk_py_input *in, const char *dir, const char *bytes, size_t len)
{
    if (in->fd < 0)
        in->fd = open_spool(dir);
    if (in->fd < 0)
        return MK_E_SYS;
    while (len > 0) {
        ssize_t n = write(in->fd, bytes, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return MK_E_SYS;
        in->file_len += (uint64_t)n;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

/* ---- taking ---- */

/* How much may be read now; nobody waits meanwhile for what was not asked for. */
static size_t find_room(struct mk_py_call *c)
{
    struct mk_py_input *in = &c->input;
    size_t room = PIECE;

    (void)pthread_mutex_lock(&c->lock);
    if (in->is_ended)
        room = 0;
    else if (!in->is_whole && (!in->is_wanted || in->fifo.len + PIECE > c->pool->body_memory))
        room = 0;
    in->is_paused = room == 0;
    (void)pthread_mutex_unlock(&c->lock);
    return room;
}

static int keep(struct mk_py_call *c, const char *bytes, size_t len)
{
    struct mk_py_input *in = &c->input;
    int err = 0;

    if (in->is_whole && (in->file_len > 0 || in->fifo.len + len > c->pool->body_memory)) {
        err = write_file(in, c->pool->spool_dir, bytes, len);
    } else {
        (void)pthread_mutex_lock(&c->lock);
        if (!mk_py_fifo_push(&in->fifo, bytes, len))
            err = MK_E_NOMEM;
        (void)pthread_cond_signal(&c->changed);
        (void)pthread_mutex_unlock(&c->lock);
    }
    in->total += len;
    return err;
}

static void end(struct mk_py_call *c, int error)
{
    (void)pthread_mutex_lock(&c->lock);
    c->input.is_ended = true;
    c->input.error = error;
    (void)pthread_cond_broadcast(&c->changed);
    (void)pthread_mutex_unlock(&c->lock);
}

int mk_py_intake_take(struct mk_py_call *c, struct mk_request *r)
{
    char piece[PIECE];
    size_t room;

    while ((room = find_room(c)) > 0) {
        ssize_t n = mk_request_read(r, piece, room);

        if (n == MK_E_AGAIN)
            break;
        if (n > 0)
            n = keep(c, piece, (size_t)n) < 0 ? MK_E_SYS : n;
        if (n <= 0)
            end(c, (int)n);
        if (n < 0)
            return c->input.is_whole ? (int)n : 0;
    }
    return 0;
}
