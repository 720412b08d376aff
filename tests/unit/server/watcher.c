/* SPDX-License-Identifier: Apache-2.0 */
#include "watcher.h"

#include <errno.h>
#include <sys/socket.h>

void watcher_fn(struct mk_stream *s, unsigned events, void *arg)
{
    struct watcher *w = arg;

    assert_ptr_equal(s, w->s);
    assert_false(w->all & MK_IO_ERROR); /* it was the last */
    assert_true(w->ntold < MK_ARRAY_LEN(w->told));
    w->told[w->ntold++] = events;
    w->all |= events;
    while (!w->idle && (events & MK_IO_READ)) {
        w->end = mk_stream_read(s, w->in + w->in_len, sizeof(w->in) - 1 - w->in_len);
        if (w->end <= 0)
            break;
        w->in_len += (size_t)w->end;
        w->in[w->in_len] = '\0';
        if (w->in_len == sizeof(w->in) - 1)
            break;
    }
    if (!(events & w->closes_on))
        return;
    if (w->closes) {
        mk_stream_close(w->closes->s);
        w->closes->s = NULL;
    }
    w->s = NULL;
    mk_stream_close(s);
}

void watcher_turns(struct fixture *f)
{
    for (int i = 0; i < 5; i++)
        mk_loop_turn(&f->worker->loop, 0, NULL, NULL);
}

void watcher_wait(struct watcher *w, unsigned events)
{
    for (int i = 0; i < 100 && !(w->all & events); i++)
        mk_loop_turn(&w->f->worker->loop, 20, NULL, NULL);
    if (!(w->all & events))
        fail_msg("not told of %x, only of %x", events, w->all);
}

void watcher_say(struct watcher *w, const char *text)
{
    struct iovec part = {(void *)(uintptr_t)text, strlen(text)};

    assert_int_equal(mk_stream_write(w->s, &part, 1), part.iov_len);
}

const char *peer_read(int fd)
{
    static char text[1024];
    ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

    if (n == 0)
        return "-";
    if (n < 0)
        return errno == EAGAIN ? "" : "!";
    text[n] = '\0';
    return text;
}

void peer_say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}
