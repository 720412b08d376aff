/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BASE_ARENA_H
#define MK_BASE_ARENA_H

#include <monkey/types.h>

#include <stdarg.h>

/*
 * Memory that is dropped whole. Blocks come from the heap as needed, after an optional first
 * block that the owner lends. One thread at a time.
 */

struct mk_arena_block;
struct mk_arena_hook;

struct mk_arena {
    char *at, *end;               /* free space of the current block */
    struct mk_arena_block *block; /* heap blocks, newest first */
    struct mk_arena_hook *hooks;  /* call-backs of mk_arena_on_free, newest first */
    size_t used, max;             /* bytes asked for so far, and the most there may be */
};

/**
 * @param first  memory lent as the first block, at least until fini; may be NULL
 * @param max    ceiling for the sum of all requests; SIZE_MAX for none
 */
void mk_arena_init(struct mk_arena *a, void *first, size_t first_len, size_t max);

/** Run the on_free call-backs, newest first, and give the heap blocks back. Leaves it empty. */
void mk_arena_fini(struct mk_arena *a);

/** @return size bytes aligned for any type, or NULL (no memory, or above max). */
void *mk_arena_alloc(struct mk_arena *a, size_t size) MK_MUST_USE;
/** The same, zeroed. */
void *mk_arena_zalloc(struct mk_arena *a, size_t size) MK_MUST_USE;
/** @return a terminated copy of s in the arena, or NULL. */
char *mk_arena_strdup(struct mk_arena *a, struct mk_str s) MK_MUST_USE;
/** @return formatted, terminated text in the arena, or NULL. */
char *mk_arena_printf(struct mk_arena *a, const char *fmt, ...) MK_MUST_USE MK_PRINTF(2, 3);
char *mk_arena_vprintf(struct mk_arena *a, const char *fmt, va_list args) MK_MUST_USE
    MK_PRINTF(2, 0);

/** Call fn(arg) at fini, for what is not memory. @return 0 or MK_E_NOMEM. */
int mk_arena_on_free(struct mk_arena *a, void (*fn)(void *arg), void *arg) MK_MUST_USE;

#endif
