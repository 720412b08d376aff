/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_FIBER_H
#define MK_DUDA_OBJECTS_FIBER_H

#include <stddef.h>

/*
 * A stack of its own on which a function runs until it switches to another one of the same thread. Below the stack lies
 * an inaccessible page, so that a function that needs too much ends the process and writes over nobody's memory.
 */
enum {
    MK_DUDA_FIBER_STACK = 256 * 1024
}; /* address space; memory is used as far as the stack is */

struct mk_duda_fiber;

/** @return the fiber that stands for the stack of the calling thread; NULL without memory. */
struct mk_duda_fiber *mk_duda_fiber_of_thread(void);
/** @param run  must end in mk_duda_fiber_switch, never return. @return the fiber, not started; NULL without memory. */
struct mk_duda_fiber *mk_duda_fiber_new(void (*run)(void *arg), void *arg);
/** Not while it runs; what stands on its stack is forgotten. NULL is allowed. */
void mk_duda_fiber_free(struct mk_duda_fiber *fiber);

/** Go on in `to`, on the same thread. Returns when another fiber switches to `from`. */
void mk_duda_fiber_switch(struct mk_duda_fiber *from, struct mk_duda_fiber *to);
/** The same for the last time: nothing switches to `from` again. It is freed by a fiber that runs afterwards. */
void mk_duda_fiber_leave(struct mk_duda_fiber *from, struct mk_duda_fiber *to)
    __attribute__((noreturn));

#endif
