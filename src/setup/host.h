/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETUP_HOST_H
#define MK_SETUP_HOST_H

#include <monkey/server.h>

#include <stddef.h>

/* What the surrounding program gives: a program that was built before there was a member has a smaller struct. */

#define MK_HOST_HAS(host, member)                                                                  \
    ((host) && (host)->size >= offsetof(struct mk_host, member) + sizeof((host)->member) &&        \
     (host)->member)

/** @return NAME of "program:NAME", a text or a log of the program; NULL: path is a file's. */
const char *mk_host_name_of(const char *path);

/** Open the text of "program:NAME". @return a descriptor to read it from, or an enum mk_error: MK_E_NOENT, there is none. */
int mk_host_open_text(const struct mk_host *host, const char *path) MK_MUST_USE;

#endif
