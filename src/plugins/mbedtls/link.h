/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MBED_LINK_H
#define MBED_LINK_H

#include "face.h"
#include "kit/tls/link.h"

#include <mbedtls/ctr_drbg.h>

/*
 * The kit's link (kit/tls/link.h) on mbedTLS. The library's buffers, 34 KB, come when the first bytes do, so that who only
 * connects costs little; and while a connection is idle, the pages of them that hold nothing go back to the system.
 */

enum {
    MBED_IN_BYTES =
        1024, /* read at once: the library asks for five bytes, then for the rest of a record */
    MBED_BATCH_BYTES = 2 * TLS_RECORD_MAX,         /* of a body, encrypted and sent at once */
    MBED_OUT_BYTES = MBED_BATCH_BYTES + (8 << 10), /* the same as records */
};

/** What the links of one worker share: its faces, and buffers that are empty between any two calls. */
struct mbed_worker {
    struct tls_local local;
    unsigned refs; /* of its own thread only: its links and its configuration */
    unsigned peak; /* of refs, since memory was given back */
    mbedtls_ctr_drbg_context rng;
    struct mbed_face *fronts; /* as live->sites */
    struct mbed_face *backs;  /* as live->backends; made when they are first used */
    char out[MBED_OUT_BYTES];
    char in[MBED_BATCH_BYTES];
};

struct mbed_worker *mbed_worker_new(struct mk_worker *worker, struct tls_live *live) MK_MUST_USE;
/** A link more. */
void mbed_worker_ref(struct mbed_worker *w);
void mbed_worker_put(struct mbed_worker *w);

struct mbed_link {
    struct tls_link link;
    mbedtls_ssl_context ssl; /* from TLS_LINK_SHAKING on */
    struct mbed_face *face;
    char *name;           /* SNI; heap; NULL: none */
    const char *asked[2]; /* tls_link.asked as the library wants it */
    int error; /* the library's, of the last call that failed; 0: the kit's call failed */
    uint16_t in_at, in_len;
    bool offers_h2;   /* beside HTTP/1 */
    bool has_ssl;     /* ssl is to be freed */
    bool told_alert;  /* an alert was sent */
    bool has_touched; /* the library's buffers may have pages to give back */
    char in[MBED_IN_BYTES];
};

extern const struct tls_link_engine mbed_link_engine;
extern const struct mk_transport mbed_transport;

static inline struct mbed_worker *mbed_worker_of(const struct tls_link *t)
{
    return (struct mbed_worker *)t->local;
}

static inline struct mbed_link *mbed_link_of(struct tls_link *t)
{
    return (struct mbed_link *)t;
}

/** The library comes in, with its buffers. @return 0 or MK_E_NOMEM. */
int mbed_begin_library(struct mbed_link *own) MK_MUST_USE;
struct mbed_face *mbed_face_of_site(const struct mbed_worker *w, const struct tls_site *site);

/** Nothing is being read or written: give back what memory of the library's buffers holds nothing. */
void mbed_trim(struct mbed_link *own);

/* ---- wire.c ---- */

/** The library's call-backs, with a struct mbed_link. */
int mbed_wire_send(void *link, const unsigned char *bytes, size_t len);
int mbed_wire_recv(void *link, unsigned char *bytes, size_t len);
/** The first bytes of a link, which the library finds in `in`. @return as recv(2). */
ssize_t mbed_wire_begin(struct mbed_link *own);

/* ---- shake.c: of struct tls_link_engine ---- */

enum tls_step mbed_shake(struct tls_link *t);
const char *mbed_link_why(struct tls_link *t, char text[TLS_WHY_MAX]);
const char *mbed_link_why_refused(struct tls_link *t, char text[TLS_WHY_MAX]);

#endif
