/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_CRASH_H
#define MK_DUDA_SERVICE_CRASH_H

/*
 * Reports of crashes: when a signal such as SIGSEGV ends the process, lines on standard error say where.
 *
 *     crash signal=11 service=shop callback=show request="GET /shop/7"
 *     crash at=/srv/shop/shop.duda+0x1139
 *
 * The second line comes for each call, the innermost first; service, callback and request only where they are known.
 */

/** Report crashes of this process. Signals that have a handler, as under sanitizers, are left alone. Control thread. */
void mk_duda_crash_watch(void);
/** Undo mk_duda_crash_watch, once for all calls. */
void mk_duda_crash_unwatch(void);

/**
 * Let the calling thread run handlers of such signals, on a stack of their own, for that of the thread may be full.
 * @return the stack, for mk_duda_crash_leave; NULL without memory
 */
void *mk_duda_crash_enter(void);
/** @param stack  NULL: nothing happens. The thread that entered, or any after that has ended. */
void mk_duda_crash_leave(void *stack);

#endif
