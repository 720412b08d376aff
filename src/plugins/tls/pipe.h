/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TLS_PIPE_H
#define TLS_PIPE_H

#include "link.h"

/*
 * Between OpenSSL and the socket: what it reads comes straight from there; what it writes gathers in the worker's
 * buffer until tls_link_flush.
 */

BIO_METHOD *openssl_pipe_method(void) MK_MUST_USE;
/** Give a link its end of it. @return false without memory. */
bool openssl_pipe_open(struct openssl_link *own) MK_MUST_USE;

#endif
