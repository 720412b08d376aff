/* SPDX-License-Identifier: Apache-2.0 */
#include "server/answer/pipe.h"

#include "base/heap.h"
#include "base/invariant.h"
#include "core/fd.h"
#include "server/request/wire.h"
#include "server/worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

struct mk_pipe {
    struct mk_watch watch;
    struct mk_request *request;
    uint64_t left; /* UINT64_MAX: until its end */
    bool can_splice;
};

/* Edge-triggered: what came is asked for by the request, which may have been waiting for it. */
static void on_event(struct mk_watch *w, uint32_t events)
{
    struct mk_pipe *p = MK_CONTAINER_OF(w, struct mk_pipe, watch);

    (void)events;
    p->request->wire->wake(p->request);
}

static void on_gone(struct mk_watch *w)
{
    mk_heap_free(MK_CONTAINER_OF(w, struct mk_pipe, watch));
}

static bool is_fifo(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

int mk_pipe_open(struct mk_pipe **pipe, struct mk_request *r, int fd, uint64_t max)
{
    int flags = fcntl(fd, F_GETFL);
    struct mk_pipe *p;
    int err = MK_E_INVALID;

    *pipe = NULL;
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        goto close_fd;
    err = MK_E_NOMEM;
    p = mk_heap_zalloc(1, sizeof(*p));
    if (!p)
        goto close_fd;
    p->request = r;
    p->left = max;
    p->can_splice = is_fifo(fd);
    mk_watch_init(&p->watch, fd, on_event, on_gone);
    err = mk_watch_open(&r->worker->loop, &p->watch, EPOLLIN | EPOLLRDHUP | EPOLLET);
    if (err < 0)
        goto free_pipe;
    *pipe = p;
    return 0;

free_pipe:
    err = err == MK_E_NOMEM ? err : MK_E_INVALID;
    mk_heap_free(p);
close_fd:
    mk_fd_close(&fd);
    return err;
}

void mk_pipe_close(struct mk_pipe *p)
{
    struct mk_loop *loop;

    if (!p)
        return;
    /* Who gave the descriptor may have kept a copy, for a child process say: that would keep it in epoll. */
    loop = &p->request->worker->loop;
    mk_watch_pause(loop, &p->watch);
    mk_watch_close(loop, &p->watch);
}

/* What a read or a splice came to. */
static ssize_t judge(struct mk_pipe *p, ssize_t n)
{
    if (n > 0) {
        if (p->left != UINT64_MAX)
            p->left -= (uint64_t)n;
        return n;
    }
    if (n == 0)
        return p->left == UINT64_MAX ? 0 : MK_E_EOF;
    return errno == EAGAIN ? MK_E_AGAIN : MK_E_SYS;
}

static size_t at_most(const struct mk_pipe *p, size_t len)
{
    return len < p->left ? len : (size_t)p->left;
}

ssize_t mk_pipe_read(struct mk_pipe *p, char *dst, size_t len)
{
    ssize_t n;

    len = at_most(p, len);
    if (len == 0)
        return 0;
    do
        n = read(p->watch.fd, dst, len);
    while (n < 0 && errno == EINTR);
    return judge(p, n);
}

bool mk_pipe_can_splice(const struct mk_pipe *p)
{
    const struct mk_wire *wire = p->request->wire;

    return p->can_splice && wire->can_splice && wire->can_splice(p->request);
}

bool mk_pipe_has_bytes(const struct mk_pipe *p)
{
    int n = 0;

    return ioctl(p->watch.fd, FIONREAD, &n) == 0 && n > 0;
}

enum mk_pump mk_pipe_splice(struct mk_pipe *p, size_t len, size_t *moved)
{
    enum mk_pump verdict;

    *moved = 0;
    len = at_most(p, len);
    if (len == 0)
        return MK_PUMP_DONE;
    verdict = p->request->wire->splice(p->request, p->watch.fd, len, moved);
    if (verdict == MK_PUMP_READER) /* which of the two? */
        return mk_pipe_has_bytes(p) ? MK_PUMP_READER : MK_PUMP_SOURCE;
    if (verdict == MK_PUMP_COPY)
        p->can_splice = false;
    return verdict == MK_PUMP_DONE && judge(p, (ssize_t)*moved) < 0 ? MK_PUMP_BROKEN : verdict;
}
