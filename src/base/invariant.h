/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BASE_INVARIANT_H
#define MK_BASE_INVARIANT_H

/*
 * MK_ASSERT is for what cannot happen, whatever a peer, a disk or a plugin does: a broken
 * invariant of our own. In release builds it traps without text, to stay small.
 */
#ifdef NDEBUG
#define MK_ASSERT(cond)                                                                            \
    do {                                                                                           \
        if (!(cond))                                                                               \
            __builtin_trap();                                                                      \
    } while (0)
#else
#include <assert.h>
#define MK_ASSERT(cond) assert(cond)
#endif

/** The same where a look at each turn would cost too much: builds for debugging and with sanitizers look. */
#ifdef NDEBUG
#define MK_INVARIANT(cond) ((void)sizeof(cond))
#else
#define MK_INVARIANT(cond) MK_ASSERT(cond)
#endif

#define MK_LIKELY(cond) __builtin_expect(!!(cond), 1)
#define MK_UNLIKELY(cond) __builtin_expect(!!(cond), 0)
#define MK_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MK_CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#endif
