/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CORE_THREAD_H
#define MK_CORE_THREAD_H

#include <monkey/types.h>

#include <pthread.h>
#include <signal.h>

/**
 * Start a named thread with a small stack and all signals blocked: they belong to the program
 * around the library.
 * @param name  at most 15 characters
 * @param cpu   the one to stay on; -1 or one that does not exist: any
 * @return 0, MK_E_NOMEM or MK_E_SYS.
 */
int mk_thread_start(pthread_t *thread, const char *name, int cpu, void *(*main)(void *arg),
                    void *arg) MK_MUST_USE;

/**
 * Give this thread a stack for handlers of signals, such as that of the program which notes a crash: that of an overflowed stack has no
 * room for them. It takes address space, and memory only when a handler runs. Call first on a thread of mk_thread_start.
 * @return for mk_thread_leave; NULL: it has one, a sanitizer's, or there is no memory.
 */
void *mk_thread_enter(void);
/** Call last on the thread. */
void mk_thread_leave(void *stack);

/**
 * Block SIGPIPE on a thread of the program while the library writes to sockets on it.
 * @param before  out: for mk_thread_release_sigpipe, which also takes back the signal of such a write
 */
void mk_thread_hold_sigpipe(sigset_t *before);
void mk_thread_release_sigpipe(const sigset_t *before);

/** CPUs that this process may run on; at least 1. */
unsigned mk_thread_cpus(void);

#endif
