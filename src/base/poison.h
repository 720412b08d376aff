/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BASE_POISON_H
#define MK_BASE_POISON_H

/*
 * Memory that we keep but nobody may touch, as free blocks of a pool: the address sanitizer reports an access to it. Other
 * builds do nothing. The sanitizer knows parts of 8 bytes.
 */

#include <stdbool.h>
#include <stddef.h>

#ifndef __has_feature
#define __has_feature(feature) 0 /* clang tells sanitizers by it, gcc by macros */
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define MK_HAS_POISON 1
#else
#define MK_HAS_POISON 0
#endif

static inline void mk_poison(const void *p, size_t len)
{
#if MK_HAS_POISON
    __asan_poison_memory_region(p, len);
#else
    (void)p;
    (void)len;
#endif
}

/** Before memory is used again, and before it goes back to where it came from. */
static inline void mk_unpoison(const void *p, size_t len)
{
#if MK_HAS_POISON
    __asan_unpoison_memory_region(p, len);
#else
    (void)p;
    (void)len;
#endif
}

/** @return whether an access to this byte is reported. */
static inline bool mk_is_poisoned(const void *p)
{
#if MK_HAS_POISON
    return __asan_address_is_poisoned(p);
#else
    (void)p;
    return false;
#endif
}

#endif
