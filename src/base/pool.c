/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"

#include "base/code.h"
#include "base/heap.h"
#include "base/invariant.h"
#include "base/poison.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BLOCKS = 64, /* of a chunk; block 0 holds the chunk's own record */
    ALIGNMENT = 64,
    KEPT_WARM = 8, /* written blocks that a chunk may keep through a trim */
};

struct chunk {
    struct mk_list link;
    uint64_t free;  /* bit i: block i is free */
    uint64_t dirty; /* bit i: block i was written to, so its pages cost memory */
};

static const uint64_t all_free = ~UINT64_C(1);

void mk_pool_init(struct mk_pool *p, size_t block_size)
{
    *p = (struct mk_pool){.size = block_size,
                          .block_size = (block_size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1)};
    p->chunk_size = (size_t)sysconf(_SC_PAGESIZE);
    while (p->chunk_size < p->block_size * BLOCKS)
        p->chunk_size *= 2;
    mk_list_init(&p->free_chunks);
    mk_list_init(&p->full_chunks);
}

static struct chunk *chunk_of(const struct mk_pool *p, void *block)
{
    return (struct chunk *)(void *)((char *)block - ((uintptr_t)block & (p->chunk_size - 1)));
}

static struct chunk *add_chunk(struct mk_pool *p)
{
    struct chunk *c = mk_heap_map(p->chunk_size);

    if (!c)
        return NULL;
    c->free = all_free;
    c->dirty = 0;
    mk_poison(c + 1, p->chunk_size - sizeof(*c));
    mk_list_add_tail(&p->free_chunks, &c->link);
    return c;
}

static void drop_chunk(struct mk_pool *p, struct chunk *c)
{
    mk_list_remove(&c->link);
    mk_unpoison(c, p->chunk_size);
    mk_heap_unmap(c, p->chunk_size);
}

MK_AT_START void mk_pool_fini(struct mk_pool *p)
{
    MK_ASSERT(p->used == 0);
    MK_LIST_EACH (&p->free_chunks, link)
        drop_chunk(p, MK_CONTAINER_OF(link, struct chunk, link));
}

void *mk_pool_get(struct mk_pool *p)
{
    struct chunk *c = mk_list_is_empty(&p->free_chunks)
                          ? add_chunk(p)
                          : MK_CONTAINER_OF(p->free_chunks.next, struct chunk, link);
    uint64_t warm;
    unsigned index;
    char *block;

    if (!c)
        return NULL;
    warm = c->free & c->dirty;
    index = (unsigned)__builtin_ctzll(warm ? warm : c->free);
    c->free &= ~(UINT64_C(1) << index);
    c->dirty |= UINT64_C(1) << index;
    if (c->free == 0) {
        mk_list_remove(&c->link);
        mk_list_add_tail(&p->full_chunks, &c->link);
    }
    if (++p->used > p->peak)
        p->peak = p->used;
    block = (char *)c + index * p->block_size;
    mk_unpoison(block, p->size);
    return block;
}

void mk_pool_put(struct mk_pool *p, void *block)
{
    struct chunk *c = chunk_of(p, block);
    size_t index = (size_t)((char *)block - (char *)c) / p->block_size;

    MK_ASSERT(!(c->free & (UINT64_C(1) << index)));
    if (c->free == 0) {
        mk_list_remove(&c->link);
        mk_list_add_tail(&p->free_chunks, &c->link);
    }
    c->free |= UINT64_C(1) << index;
    mk_poison(block, p->block_size);
    p->used--;
}

static unsigned count_bits(uint64_t bits)
{
    return (unsigned)__builtin_popcountll(bits);
}

/* Whole pages of free blocks lose their content; the page of the record stays. */
static void release_pages(const struct mk_pool *p, struct chunk *c)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    for (unsigned i = 1; i < BLOCKS; i++) {
        unsigned start = i;
        size_t from, to;

        while (i < BLOCKS && (c->free & c->dirty & (UINT64_C(1) << i)))
            i++;
        if (i == start)
            continue;
        from = (start * p->block_size + page - 1) & ~(page - 1);
        to = i * p->block_size & ~(page - 1);
        if (from < to)
            (void)madvise((char *)c + from, to - from, MADV_DONTNEED);
    }
    c->dirty &= ~c->free;
}

static void each_in_chunk(struct mk_pool *p, struct chunk *c, void (*fn)(void *block, void *arg),
                          void *arg)
{
    for (uint64_t out = ~c->free & all_free; out; out &= out - 1)
        fn((char *)c + (unsigned)__builtin_ctzll(out) * p->block_size, arg);
}

void mk_pool_each(struct mk_pool *p, void (*fn)(void *block, void *arg), void *arg)
{
    MK_LIST_EACH (&p->full_chunks, link)
        each_in_chunk(p, MK_CONTAINER_OF(link, struct chunk, link), fn, arg);
    MK_LIST_EACH (&p->free_chunks, link)
        each_in_chunk(p, MK_CONTAINER_OF(link, struct chunk, link), fn, arg);
}

static void first_chunk_in_turn(struct mk_pool *p, struct mk_list *chunks,
                                void (*fn)(void *block, void *arg), void *arg)
{
    struct mk_list *first = chunks->next;

    if (mk_list_is_empty(chunks))
        return;
    mk_list_remove(first);
    mk_list_add_tail(chunks, first);
    each_in_chunk(p, MK_CONTAINER_OF(first, struct chunk, link), fn, arg);
}

_Static_assert(MK_POOL_SOME == 2 * (BLOCKS - 1), "a chunk of each list");

void mk_pool_some(struct mk_pool *p, void (*fn)(void *block, void *arg), void *arg)
{
    first_chunk_in_turn(p, &p->full_chunks, fn, arg);
    first_chunk_in_turn(p, &p->free_chunks, fn, arg);
}

bool mk_pool_trim(struct mk_pool *p)
{
    bool was_needed = p->peak > p->used + KEPT_WARM, spare_kept = false;

    p->peak = p->used;
    if (was_needed)
        return true;
    MK_LIST_EACH (&p->free_chunks, link) {
        struct chunk *c = MK_CONTAINER_OF(link, struct chunk, link);

        if (c->free == all_free && spare_kept)
            drop_chunk(p, c);
        else if (count_bits(c->free & c->dirty) > KEPT_WARM)
            release_pages(p, c);
        spare_kept = spare_kept || c->free == all_free;
    }
    return false;
}
