/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/splice.h"

#include <monkey/types.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* A page of a file, or a few of a network card, take a slot: by default there are 16. */
enum { PIPE_SIZE = 262144 };

static void close_pipe(const struct proxy_pipe *p)
{
    (void)close(p->out);
    (void)close(p->in);
}

int proxy_pipe_get(struct proxy_pipes *pool, struct proxy_pipe *p)
{
    int ends[2];

    if (pool->nfree > 0) {
        *p = pool->free[--pool->nfree];
        return 0;
    }
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) < 0)
        return MK_E_NOFD;
    (void)fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE); /* or as many as the system allows a user */
    *p = (struct proxy_pipe){.out = ends[0], .in = ends[1]};
    return 0;
}

void proxy_pipe_put(struct proxy_pipes *pool, struct proxy_pipe *p)
{
    if (p->bytes > 0 || pool->nfree == PROXY_PIPES_KEPT)
        close_pipe(p);
    else
        pool->free[pool->nfree++] = *p;
    *p = (struct proxy_pipe){.out = -1, .in = -1};
}

void proxy_pipes_free(struct proxy_pipes *pool)
{
    while (pool->nfree > 0)
        close_pipe(&pool->free[--pool->nfree]);
}

ssize_t proxy_pipe_fill(struct proxy_pipe *p, int fd, uint64_t max)
{
    size_t len = max < PIPE_SIZE ? (size_t)max : PIPE_SIZE;
    ssize_t n;

    do
        n = splice(fd, NULL, p->in, NULL, len, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    while (n < 0 && errno == EINTR);
    if (n >= 0) {
        p->bytes += (size_t)n;
        return n;
    }
    switch (errno) {
    case EAGAIN:
        return MK_E_AGAIN;
    case EINVAL:
    case ENOSYS:
        return MK_E_UNSUPPORTED;
    default:
        return MK_E_PEER;
    }
}
