/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TLS_WHY_H
#define TLS_WHY_H

/** What OpenSSL noted last on this thread, in words; its notes are forgotten. Never NULL; static. */
const char *openssl_why_failed(void);

#endif
