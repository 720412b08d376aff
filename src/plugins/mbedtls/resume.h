/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MBED_RESUME_H
#define MBED_RESUME_H

#include <monkey/types.h>

#include <mbedtls/ssl.h>

/*
 * Session tickets (RFC 5077) under the kit's keys: a key's name, an IV, the session under AES-256-GCM. What the
 * site asks of clients and its names are authenticated with it, so a session goes on only where it began.
 */

enum { MBED_TICKET_NAME = 16, MBED_TICKET_IV = 12, MBED_TICKET_TAG = 16 };

/** The library's call-backs; arg is a struct mbed_face. @return 0 or an error of the library: no ticket then. */
int mbed_resume_issue(void *arg, const mbedtls_ssl_session *session, unsigned char *start,
                      const unsigned char *end, size_t *len, uint32_t *lifetime_s);
int mbed_resume_find(void *arg, mbedtls_ssl_session *session, unsigned char *bytes, size_t len);

#endif
