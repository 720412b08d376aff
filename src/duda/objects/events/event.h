/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_EVENT_H
#define MK_DUDA_OBJECTS_EVENT_H

#include "objects/objects.h"

/* Descriptors of a service on the worker that calls. Each returns -1 (or NULL) on other threads. */

int mk_duda_watch_add(int fd, int mode, int behavior, int (*on_read)(int, void *),
                      int (*on_write)(int, void *), int (*on_error)(int, void *),
                      int (*on_close)(int, void *), int (*on_timeout)(int, void *), void *arg);
struct duda_event_handler *mk_duda_watch_lookup(int fd);
int mk_duda_watch_mode(int fd, int mode, int behavior);
int mk_duda_watch_delete(int fd);

/** Call the signal call-backs of all services of the server on every worker. Any thread that a service has. */
int mk_duda_signal(uint64_t value);
/** @return the reading end of a pipe that gets 8 bytes for each signal, owned by the service; -1. */
int mk_duda_create_signal_fd(void);

#endif
