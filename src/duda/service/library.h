/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_LIBRARY_H
#define MK_DUDA_SERVICE_LIBRARY_H

#include <stddef.h>

/*
 * Open a shared object with a state of its own: if the process has it already, a private copy in memory is opened, because
 * dlopen() would give the same one with the same variables. It is never closed.
 * @param why  out: on failure, the reason for people
 * @return for dlsym; NULL: it cannot be opened.
 */
void *mk_duda_library_open(const char *path, char *why, size_t size);

/** Let objects that are opened from now on find the calls of the library that has this one, without being linked with it. */
void mk_duda_library_share(void (*call)(void));

/**
 * The file of which an object is the copy, for reports of crashes: in a signal handler, too.
 * @param name  as dladdr() has it
 * @return name itself where it is no copy
 */
const char *mk_duda_library_file(const char *name);

#endif
