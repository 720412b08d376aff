/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TLS_RESUME_H
#define TLS_RESUME_H

#include <openssl/ssl.h>
#include <stdbool.h>

/** Session tickets of a context go by the keys that all workers share. @return false without memory. */
bool openssl_resume_use(SSL_CTX *ctx);

#endif
