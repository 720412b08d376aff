/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_BLOCKED_H
#define MK_DUDA_SERVICE_BLOCKED_H

#include <stddef.h>

/** ` stack="FILE+0xOFFSET ..."`: the calls that a thread is in which computes. One that sleeps in the kernel is left asleep: many calls do not go on after a signal. */
void mk_duda_stack_of(int tid, char *text, size_t size);

/** On each worker's thread: let the signal reach it that asks for its calls. */
void mk_duda_blocked_enter(void);

#endif
