/* SPDX-License-Identifier: Apache-2.0 */
#include "blocks.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Before the bytes that nghttp2 has. */
struct h2_block {
    alignas(max_align_t) struct h2_block *next;
    struct h2_block **at; /* the pointer that points here */
    size_t size;
};

static void *link_block(struct h2_blocks *blocks, struct h2_block *b, size_t size)
{
    if (!b)
        return NULL;
    b->size = size;
    blocks->held += size;
    b->next = blocks->first;
    b->at = &blocks->first;
    if (b->next)
        b->next->at = &b->next;
    blocks->first = b;
    return b + 1;
}

static void unlink_block(struct h2_block *b)
{
    *b->at = b->next;
    if (b->next)
        b->next->at = b->at;
}

static struct h2_block *block_of(void *p)
{
    return (struct h2_block *)p - 1;
}

static void *take(size_t size, void *user)
{
    return size <= SIZE_MAX - sizeof(struct h2_block)
               ? link_block(user, malloc(sizeof(struct h2_block) + size), size)
               : NULL;
}

static void *take_zeroed(size_t count, size_t size, void *user)
{
    void *p = size == 0 || count <= SIZE_MAX / 2 / size ? take(count * size, user) : NULL;

    return p ? memset(p, 0, count * size) : NULL;
}

static void give_back(void *p, void *user)
{
    struct h2_blocks *blocks = user;

    if (!p)
        return;
    blocks->held -= block_of(p)->size;
    unlink_block(block_of(p));
    free(block_of(p));
}

/* Whoever points to the block is told where it went. */
static void *resize(void *p, size_t size, void *user)
{
    struct h2_blocks *blocks = user;
    struct h2_block *b;

    if (!p)
        return take(size, user);
    if (size > SIZE_MAX - sizeof(*b))
        return NULL;
    b = realloc(block_of(p), sizeof(*b) + size);
    if (!b)
        return NULL;
    blocks->held += size - b->size;
    b->size = size;
    *b->at = b;
    if (b->next)
        b->next->at = &b->next;
    return b + 1;
}

void h2_blocks_init(struct h2_blocks *blocks)
{
    *blocks = (struct h2_blocks){.mem = {blocks, take, give_back, take_zeroed, resize}, .held = 0};
}

void h2_blocks_free(struct h2_blocks *blocks)
{
    struct h2_block *b = blocks->first, *next;

    for (; b; b = next) {
        next = b->next;
        free(b);
    }
    blocks->first = NULL;
}
