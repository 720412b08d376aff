/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TLS_ALT_NAMES_H
#define KIT_TLS_ALT_NAMES_H

#include <monkey/types.h>

/* For whom a certificate is: host names and addresses, as its extension subjectAltName has them (RFC 5280 section 4.2.1.6). */

enum { TLS_ALT_NAMES_MAX = 2048 };

struct tls_alt_names {
    uint8_t der[TLS_ALT_NAMES_MAX]; /* the value of the extension */
    size_t len;
};

/**
 * Encode a list.
 * @param names  host names, also "*.example.org", and IPv4 or IPv6 addresses; terminated by NULL, not empty
 * @param wrong  out: the name that MK_E_INVALID is about
 * @return 0; MK_E_INVALID: a word is neither; MK_E_LIMIT: there is no room for all.
 */
int tls_alt_names_encode(struct tls_alt_names *to, const char *const *names,
                         const char **wrong) MK_MUST_USE;

#endif
