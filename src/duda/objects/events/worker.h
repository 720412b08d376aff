/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_WORKER_H
#define MK_DUDA_OBJECTS_WORKER_H

#include "objects/objects.h"

/**
 * Start a detached thread for the service that runs on this thread; its calls there are those of this service.
 * @param thread  out
 * @return 0, or -1: without service, memory or threads.
 */
int mk_duda_thread_start(void *(*func)(void *), void *arg, pthread_t *thread);

#endif
