/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FASTCGI_BUFFERS_H
#define FASTCGI_BUFFERS_H

/*
 * A worker's buffers: of what goes to a server, and of what comes back. A few are kept, so that a request needs no large
 * allocation; what a crowd needed beyond them is freed.
 */

enum {
    BUFFER_SIZE = 64 << 10,
    BUFFERS_KEPT = 8,
};

struct buffers {
    unsigned count;
    char *kept[BUFFERS_KEPT];
};

/** @return BUFFER_SIZE bytes, to be given back; NULL without memory. */
char *fastcgi_buffers_take(struct buffers *b);
/** NULL is allowed. */
void fastcgi_buffers_give(struct buffers *b, char *buffer);
void fastcgi_buffers_fini(struct buffers *b);

#endif
