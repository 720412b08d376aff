/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TLS_MAKE_CERT_H
#define TLS_MAKE_CERT_H

#include "kit/tls/make_cert.h"

/** Key and certificate of a plan: a tls_cert_sign_fn. */
int openssl_pair_make(const struct tls_cert_plan *plan, struct tls_cert_pair *pair, char *why,
                      size_t size);

#endif
