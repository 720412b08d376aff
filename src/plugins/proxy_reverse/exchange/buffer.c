/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/buffer.h"

#include <stdlib.h>

struct proxy_buffer *proxy_buffer_get(struct proxy_buffers *pool, size_t size)
{
    struct proxy_buffer *b = pool->free;

    if (size < PROXY_BUFFER)
        size = PROXY_BUFFER;
    if (size == PROXY_BUFFER && b) {
        pool->free = b->next;
        pool->nfree--;
    } else {
        b = malloc(sizeof(*b) + size);
        if (!b)
            return NULL;
        b->size = size;
    }
    b->next = NULL;
    b->at = b->end = 0;
    return b;
}

void proxy_buffer_put(struct proxy_buffers *pool, struct proxy_buffer *b)
{
    if (!b)
        return;
    if (b->size != PROXY_BUFFER || pool->nfree == PROXY_BUFFERS_KEPT) {
        free(b);
        return;
    }
    b->next = pool->free;
    pool->free = b;
    pool->nfree++;
}

void proxy_buffers_free(struct proxy_buffers *pool)
{
    while (pool->free) {
        struct proxy_buffer *b = pool->free;

        pool->free = b->next;
        free(b);
    }
    pool->nfree = 0;
}
