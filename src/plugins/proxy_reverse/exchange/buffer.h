/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_BUFFER_H
#define PROXY_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* Buffers of one worker, for a request on its way out or a head on its way in; kept from one to the next. */

enum {
    PROXY_BUFFER = 16384,
    PROXY_BUFFERS_KEPT = 32,
};

struct proxy_buffer {
    struct proxy_buffer *next;
    size_t size;    /* of bytes */
    size_t at, end; /* of what is in it */
    char bytes[];
};

struct proxy_buffers {
    struct proxy_buffer *free;
    unsigned nfree;
};

/** @param size  at least so many bytes. @return an empty one; NULL without memory. */
struct proxy_buffer *proxy_buffer_get(struct proxy_buffers *pool, size_t size);
/**
 * A larger one in its place, with what is in it: four times the size, and no more than most. @return 0; MK_E_NOMEM: it stays.
 */
int proxy_buffer_grow(struct proxy_buffers *pool, struct proxy_buffer **b, size_t most);
/** One of the usual size in place of a large one, if what is in it fits. @return whether it was. */
bool proxy_buffer_shrink(struct proxy_buffers *pool, struct proxy_buffer **b);
/** NULL is allowed. */
void proxy_buffer_put(struct proxy_buffers *pool, struct proxy_buffer *b);
void proxy_buffers_free(struct proxy_buffers *pool);

#endif
