/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TLS_PAIRS_H
#define TLS_PAIRS_H

#include "kit/tls/files.h"

#include <openssl/ssl.h>

/** Give a context all pairs of certificate and key, judged. @return 0, MK_E_INVALID with a fault noted, or MK_E_NOMEM. */
int openssl_pairs_use(SSL_CTX *ctx, const struct tls_files *f, struct tls_report *r) MK_MUST_USE;

/** The certificates of a file in PEM. @return a stack, owned; NULL with a fault noted. */
STACK_OF(X509) * openssl_pairs_parse(const struct tls_file *file, struct tls_report *r);

enum { PAIRS_DATE_TEXT = 64 };

/** A time as certificates are shown everywhere. @return text. */
const char *openssl_pairs_date(const ASN1_TIME *when, char text[PAIRS_DATE_TEXT]);

#endif
