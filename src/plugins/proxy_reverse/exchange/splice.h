/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_SPLICE_H
#define PROXY_SPLICE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Pipes through which large bodies go from one socket to another without being copied; of one worker, kept
 * from one body to the next.
 */

enum {
    PROXY_SPLICE_MIN = 65536, /* of a body; less is copied faster */
    PROXY_PIPES_KEPT = 16,
};

struct proxy_pipe {
    int out, in;  /* to read from, to write into */
    size_t bytes; /* in it */
};

struct proxy_pipes {
    struct proxy_pipe free[PROXY_PIPES_KEPT];
    unsigned nfree;
};

/** @return 0; or MK_E_NOFD: copy. */
int proxy_pipe_get(struct proxy_pipes *pool, struct proxy_pipe *p);
/** One with bytes in it is closed: they are nobody else's. */
void proxy_pipe_put(struct proxy_pipes *pool, struct proxy_pipe *p);
void proxy_pipes_free(struct proxy_pipes *pool);

/**
 * Move bytes from a socket into a pipe that is empty.
 * @return > 0; 0: the end of its input; MK_E_AGAIN; MK_E_UNSUPPORTED: this socket cannot; MK_E_PEER.
 */
ssize_t proxy_pipe_fill(struct proxy_pipe *p, int fd, uint64_t max);

#endif
