/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TLS_CRLS_H
#define TLS_CRLS_H

#include "kit/tls/files.h"

#include <openssl/ssl.h>

/**
 * Refuse certificates of clients that the lists of CRLFile name, and those of which no list in force tells anything: each
 * authority up to the root needs one (RFC 5280 section 6.3). Without a list nothing is asked.
 * @param ctx  trusts CAFile already
 * @return false with a fault noted; a list that is out of date and an authority without one are warnings.
 */
bool openssl_crls_use(SSL_CTX *ctx, const struct tls_files *f, struct tls_report *r) MK_MUST_USE;

#endif
