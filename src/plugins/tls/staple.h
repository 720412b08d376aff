/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TLS_STAPLE_H
#define TLS_STAPLE_H

#include "kit/tls/files.h"

#include <openssl/ssl.h>

/*
 * OCSP stapling (RFC 6066 section 8): what the authority says of a certificate, from a file that somebody renews (and
 * then reloads), is given to clients that ask. What is out of date is not given; what the certificate's issuer, if it is in
 * the chain, did not sign nor let sign is refused.
 */

struct staple {
    unsigned char *response; /* DER, heap */
    int len;
    X509 *about;     /* one of the context's certificates */
    int64_t until_s; /* UTC; INT64_MAX: unsaid */
};

struct staples {
    struct staple items[TLS_PAIRS_MAX];
    size_t count;
};

/** Read the responses and find whose they are. @return 0, MK_E_INVALID with a fault noted, or MK_E_NOMEM. */
int openssl_staples_use(struct staples *s, SSL_CTX *ctx, const struct tls_files *f,
                        struct tls_report *r) MK_MUST_USE;
void openssl_staples_free(struct staples *s);

#endif
