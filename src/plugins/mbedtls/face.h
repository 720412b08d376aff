/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MBED_FACE_H
#define MBED_FACE_H

#include "sides.h"

/*
 * A section as one worker shows it to peers: the library's configuration, with random numbers and keys that no other
 * worker uses. It lives as long as its worker's links.
 */

struct mbed_worker;

struct mbed_face {
    mbedtls_ssl_config conf;
    struct mbed_worker *worker;
    const struct mbed_front *front; /* NULL: of a backend */
    mbedtls_pk_context keys[TLS_PAIRS_MAX];
    size_t nkeys;
    bool is_made;
    bool has_resumed; /* a ticket was accepted since this was last cleared */
};

/** @return 0, MK_E_NOMEM; nothing is held then. */
int mbed_face_of_front(struct mbed_face *face, struct mbed_worker *w,
                       struct mbed_front *front) MK_MUST_USE;
/** @return likewise, or MK_E_NOENT: there are no authorities to verify it by. */
int mbed_face_of_back(struct mbed_face *face, struct mbed_worker *w,
                      struct mbed_back *back) MK_MUST_USE;
void mbed_face_fini(struct mbed_face *face);

/** The library's call-back: the site by the name that the client asks for. */
int mbed_link_on_name(void *worker, mbedtls_ssl_context *ssl, const unsigned char *name,
                      size_t len);

/** What links may agree on from now on (RFC 7301): asked for before each step of a handshake, since links of several listeners share a face. */
void mbed_face_offer(struct mbed_face *face, bool has_h2);
/** The same of a backend's links. @param asked  ends with NULL; read until the next call. NULL: what is offered where nothing is asked for */
void mbed_face_ask(struct mbed_face *face, const char **asked);

#endif
