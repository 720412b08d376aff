/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/buffer.h"

#include <monkey/types.h>

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

static int replace(struct proxy_buffers *pool, struct proxy_buffer **b, size_t size)
{
    struct proxy_buffer *other = proxy_buffer_get(pool, size);

    if (!other)
        return MK_E_NOMEM;
    other->end = (*b)->end - (*b)->at;
    memcpy(other->bytes, (*b)->bytes + (*b)->at, other->end);
    proxy_buffer_put(pool, *b);
    *b = other;
    return 0;
}

int proxy_buffer_grow(struct proxy_buffers *pool, struct proxy_buffer **b, size_t most)
{
    size_t size = (*b)->size * 4;

    return replace(pool, b, size < most ? size : most);
}

bool proxy_buffer_shrink(struct proxy_buffers *pool, struct proxy_buffer **b)
{
    return (*b)->size > PROXY_BUFFER && (*b)->end - (*b)->at <= PROXY_BUFFER &&
           replace(pool, b, PROXY_BUFFER) == 0;
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
