/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TLS_PIPE_H
#define TLS_PIPE_H

#include "link.h"

/*
 * Between OpenSSL and the socket: what it reads comes straight from there; what it writes gathers in the worker's
 * buffer until pipe_flush.
 */

BIO_METHOD *pipe_method(void) MK_MUST_USE;
/** Give a link its end of it. @return false without memory. */
bool pipe_open(struct tls_link *t) MK_MUST_USE;

/**
 * Send what waits with the link and what was written since, or keep it.
 * @param bytes  of the caller's in what was written since
 * @param told   grows by those of his bytes that have left now
 * @return 0: all has left; MK_E_AGAIN; MK_E_PEER; MK_E_NOMEM.
 */
int pipe_flush(struct tls_link *t, size_t bytes, bool more, size_t *told) MK_MUST_USE;

#endif
