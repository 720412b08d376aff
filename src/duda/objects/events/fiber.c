/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/events/fiber.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* The sanitizers follow stacks by themselves only within one of them. */
#ifndef __has_feature
#define __has_feature(feature) 0 /* clang tells sanitizers by it, gcc by macros */
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define HAS_ASAN 1
#else
#define HAS_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#define HAS_TSAN 1
#else
#define HAS_TSAN 0
#endif

struct mk_duda_fiber {
    ucontext_t context;
    void (*run)(void *arg);
    void *arg;
    char *mapping; /* NULL: the stack of a thread */
    size_t mapped;
    const void *bottom; /* of the stack */
    size_t size;
    void *fake_stack; /* of AddressSanitizer */
    void *tsan;
};

/* Who switched last, and to whom: makecontext() passes no pointers. */
static _Thread_local struct mk_duda_fiber *came_from, *entering;

static void arrive(void *fake_stack)
{
#if HAS_ASAN
    __sanitizer_finish_switch_fiber(fake_stack, &came_from->bottom, &came_from->size);
#else
    (void)fake_stack;
#endif
}

static void enter(void)
{
    struct mk_duda_fiber *fiber = entering;

    arrive(NULL);
    fiber->run(fiber->arg);
    abort(); /* run has returned against its contract */
}

/*
 * Part of its callers, not called: ThreadSanitizer notes calls and returns on the stack of calls of the fiber that runs, and
 * this one would return on another than it was called on.
 * @param keeps  whether `from` goes on some time
 */
__attribute__((always_inline)) static inline void depart(struct mk_duda_fiber *from,
                                                         struct mk_duda_fiber *to, bool keeps)
{
    came_from = from;
    entering = to;
#if HAS_ASAN
    __sanitizer_start_switch_fiber(keeps ? &from->fake_stack : NULL, to->bottom, to->size);
#else
    (void)keeps;
#endif
#if HAS_TSAN
    __tsan_switch_to_fiber(to->tsan, 0);
#endif
}

void mk_duda_fiber_switch(struct mk_duda_fiber *from, struct mk_duda_fiber *to)
{
    depart(from, to, true);
    (void)swapcontext(&from->context, &to->context);
    arrive(from->fake_stack);
}

void mk_duda_fiber_leave(struct mk_duda_fiber *from, struct mk_duda_fiber *to)
{
    depart(from, to, false);
    (void)setcontext(&to->context);
    abort(); /* setcontext returns only for an invalid context */
}

struct mk_duda_fiber *mk_duda_fiber_of_thread(void)
{
    struct mk_duda_fiber *fiber = calloc(1, sizeof(*fiber));

#if HAS_TSAN
    if (fiber)
        fiber->tsan = __tsan_get_current_fiber();
#endif
    return fiber;
}

static bool has_stack(struct mk_duda_fiber *fiber)
{
    size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    void *mapping;

    fiber->mapped = MK_DUDA_FIBER_STACK + guard;
    mapping = mmap(NULL, fiber->mapped, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED)
        return false;
    fiber->mapping = mapping;
    if (mprotect(mapping, guard, PROT_NONE) < 0)
        return false;
    fiber->bottom = fiber->mapping + guard;
    fiber->size = MK_DUDA_FIBER_STACK;
    return true;
}

static bool is_prepared(struct mk_duda_fiber *fiber)
{
    if (getcontext(&fiber->context) < 0)
        return false;
    fiber->context.uc_stack.ss_sp = fiber->mapping + (fiber->mapped - fiber->size);
    fiber->context.uc_stack.ss_size = fiber->size;
    makecontext(&fiber->context, enter, 0);
    return true;
}

struct mk_duda_fiber *mk_duda_fiber_new(void (*run)(void *arg), void *arg)
{
    struct mk_duda_fiber *fiber = calloc(1, sizeof(*fiber));

    if (!fiber)
        return NULL;
    if (!has_stack(fiber) || !is_prepared(fiber)) {
        mk_duda_fiber_free(fiber);
        return NULL;
    }
    fiber->run = run;
    fiber->arg = arg;
#if HAS_TSAN
    fiber->tsan = __tsan_create_fiber(0);
#endif
    return fiber;
}

void mk_duda_fiber_free(struct mk_duda_fiber *fiber)
{
    if (!fiber)
        return;
    if (fiber->mapping) {
        (void)munmap(fiber->mapping, fiber->mapped);
#if HAS_TSAN
        if (fiber->tsan)
            __tsan_destroy_fiber(fiber->tsan);
#endif
    }
    free(fiber);
}
