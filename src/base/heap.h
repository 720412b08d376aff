/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BASE_HEAP_H
#define MK_BASE_HEAP_H

#include "base/code.h"

#include <monkey/types.h>

/*
 * The one door to malloc. Every allocation of the library passes here, so that a test can make
 * the n-th one fail. Any thread.
 */

/** @return size bytes, uninitialised, or NULL. Freed with mk_heap_free. */
MK_INSIDE void *mk_heap_alloc(size_t size) MK_MUST_USE;
/** @return count * size zeroed bytes, or NULL (also when the product overflows). */
MK_INSIDE void *mk_heap_zalloc(size_t count, size_t size) MK_MUST_USE;
/** Like realloc; p is untouched when NULL is returned. */
MK_INSIDE void *mk_heap_resize(void *p, size_t size) MK_MUST_USE;
/** @return a terminated copy of s, or NULL. */
MK_INSIDE char *mk_heap_strdup(struct mk_str s) MK_MUST_USE;
/** @return size zeroed bytes mapped from the system and aligned to size (a power of two), or NULL. */
void *mk_heap_map(size_t size) MK_MUST_USE;
void mk_heap_unmap(void *p, size_t size);
/** NULL is allowed. */
MK_INSIDE void mk_heap_free(void *p);

/** After much was freed: give whole free pages back to the system. Slow; for starts and reloads, and when a crowd has left. */
void mk_heap_trim(void);

/**
 * For tests: let n more allocations succeed and the one after that fail (once). A negative n
 * switches the fault off, which is the state at start. Process-wide.
 */
MK_API void mk_heap_fail_after(long n);
/** For tests: allocations not yet freed, process-wide. */
MK_API long mk_heap_live(void);

#endif
