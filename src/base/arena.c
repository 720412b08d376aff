/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "base/heap.h"
#include "base/invariant.h"
#include "base/poison.h"

#include <stdalign.h>
#include <stdio.h>

enum {
    ALIGN = alignof(max_align_t),
    BLOCK_SIZE = 4096, /* one page: most arenas of a configuration need a few */
    LARGE = BLOCK_SIZE / 4,
};

struct mk_arena_block {
    struct mk_arena_block *next;
    alignas(ALIGN) char bytes[];
};

struct mk_arena_hook {
    struct mk_arena_hook *next;
    void (*fn)(void *arg);
    void *arg;
};

static size_t round_up(size_t n)
{
    return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static void use_space(struct mk_arena *a, char *p, size_t len)
{
    size_t skip = (size_t)(-(uintptr_t)p & (ALIGN - 1));

    a->at = len > skip ? p + skip : p;
    a->end = len > skip ? p + len : p;
    mk_poison(a->at, (size_t)(a->end - a->at));
}

void mk_arena_init(struct mk_arena *a, void *first, size_t first_len, size_t max)
{
    *a = (struct mk_arena){.max = max};
    if (first)
        use_space(a, first, first_len);
}

void mk_arena_fini(struct mk_arena *a)
{
    while (a->hooks) {
        struct mk_arena_hook *hook = a->hooks;

        a->hooks = hook->next;
        hook->fn(hook->arg);
    }
    mk_unpoison(a->at, (size_t)(a->end - a->at));
    while (a->block) {
        struct mk_arena_block *block = a->block;

        a->block = block->next;
        mk_heap_free(block);
    }
    *a = (struct mk_arena){.max = a->max};
}

static struct mk_arena_block *add_block(struct mk_arena *a, size_t len)
{
    struct mk_arena_block *block = mk_heap_alloc(sizeof(*block) + len);

    if (!block)
        return NULL;
    block->next = a->block;
    a->block = block;
    return block;
}

static int add_space(struct mk_arena *a)
{
    size_t len = BLOCK_SIZE - sizeof(struct mk_arena_block);
    struct mk_arena_block *block = add_block(a, len);

    if (!block)
        return MK_E_NOMEM;
    mk_unpoison(a->at, (size_t)(a->end - a->at));
    use_space(a, block->bytes, len);
    return 0;
}

static void count(struct mk_arena *a, size_t size)
{
    a->used += size < a->max - a->used ? size : a->max - a->used;
}

/* What is large has a block of its own, so that the rest of the current one is not lost. */
static void *alloc_large(struct mk_arena *a, size_t size)
{
    struct mk_arena_block *block = add_block(a, size);

    if (!block)
        return NULL;
    count(a, size);
    return block->bytes;
}

/* Of any size; what fits, as most of a request does, has a shorter way below. */
static __attribute__((noinline)) void *alloc_any(struct mk_arena *a, size_t size)
{
    char *p;

    if (size > a->max - a->used || size > SIZE_MAX / 2)
        return NULL;
    size = round_up(size ? size : 1);
    if (size > (size_t)(a->end - a->at)) {
        if (size > LARGE)
            return alloc_large(a, size);
        if (add_space(a) < 0)
            return NULL;
    }
    p = a->at;
    a->at += size;
    count(a, size);
    mk_unpoison(p, size);
    return p;
}

void *mk_arena_alloc(struct mk_arena *a, size_t size)
{
    const size_t room = (size_t)(a->end - a->at), rounded = round_up(size);
    char *p = a->at;

    /* Size 0, or one near that of all memory, is above the room less one. */
    if (MK_UNLIKELY(size - 1 >= room || rounded > room || rounded > a->max - a->used))
        return alloc_any(a, size);
    a->at += rounded;
    a->used += rounded;
    mk_unpoison(p, rounded);
    return p;
}

void *mk_arena_zalloc(struct mk_arena *a, size_t size)
{
    void *p = alloc_any(a, size);

    return p ? memset(p, 0, size) : NULL;
}

char *mk_arena_strdup(struct mk_arena *a, struct mk_str s)
{
    char *copy = alloc_any(a, s.len + 1);

    if (!copy)
        return NULL;
    if (s.len > 0)
        memcpy(copy, s.p, s.len);
    copy[s.len] = '\0';
    return copy;
}

char *mk_arena_vprintf(struct mk_arena *a, const char *fmt, va_list args)
{
    va_list again;
    char *text;
    int len;

    va_copy(again, args);
    len = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    text = len < 0 ? NULL : mk_arena_alloc(a, (size_t)len + 1);
    if (text)
        (void)vsnprintf(text, (size_t)len + 1, fmt, args);
    return text;
}

char *mk_arena_printf(struct mk_arena *a, const char *fmt, ...)
{
    va_list args;
    char *text;

    va_start(args, fmt);
    text = mk_arena_vprintf(a, fmt, args);
    va_end(args);
    return text;
}

int mk_arena_on_free(struct mk_arena *a, void (*fn)(void *arg), void *arg)
{
    struct mk_arena_hook *hook = mk_arena_alloc(a, sizeof(*hook));

    if (!hook)
        return MK_E_NOMEM;
    *hook = (struct mk_arena_hook){.next = a->hooks, .fn = fn, .arg = arg};
    a->hooks = hook;
    return 0;
}
