/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_LOOPS_H
#define MK_DUDA_OBJECTS_LOOPS_H

#include "objects/objects.h"

/*
 * Loops of a service's own threads, the calls event->loop_... of level 2. A loop belongs to one thread. Each call
 * returns -1 for a NULL loop or a descriptor that cannot be watched.
 */
mk_event_loop_t *mk_duda_loop_create(int size);
int mk_duda_loop_add(mk_event_loop_t *loop, int fd, int mask, void *data);
int mk_duda_loop_delete(mk_event_loop_t *loop, int fd);
int mk_duda_loop_timeout_create(mk_event_loop_t *loop, int seconds);
int mk_duda_loop_channel_create(mk_event_loop_t *loop, int *r_fd, int *w_fd);
int mk_duda_loop_wait(mk_event_loop_t *loop);
char *mk_duda_loop_backend(void);

/** The interface has no such call: loops of services stay until the process ends. NULL is allowed. */
void mk_duda_loop_free(mk_event_loop_t *loop);

#endif
