/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TLS_SNI_H
#define TLS_SNI_H

#include <monkey/types.h>

/**
 * The host name in the extension server_name of a client hello (RFC 6066 section 3).
 * @param p  the extension's content, borrowed; so is what is returned
 * @return the name, or p NULL: there is none that is well-formed
 */
struct mk_str openssl_sni_parse(const unsigned char *p, size_t len);

#endif
