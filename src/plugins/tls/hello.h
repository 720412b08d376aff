/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TLS_HELLO_H
#define TLS_HELLO_H

#include <openssl/ssl.h>

/**
 * What a client hello decides: the site by its name, before anything else is looked at, and the protocol by ALPN
 * (RFC 7301). Sets the call-backs of a context; they find the link by its BIO.
 */
void openssl_hello_use(SSL_CTX *ctx);

#endif
