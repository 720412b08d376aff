/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MBED_LINK_H
#define MBED_LINK_H

#include "face.h"
#include "kit/tls/outlet.h"
#include "kit/tls/pace.h"

#include <monkey/transport.h>

#include <mbedtls/ctr_drbg.h>

/*
 * A link of this transport. The library's buffers, 34 KB, come when the first bytes do, so that who only connects costs
 * little; and while a connection is idle, the pages of them that hold nothing go back to the system.
 */

enum {
    MBED_IN_BYTES =
        1024, /* read at once: the library asks for five bytes, then for the rest of a record */
    MBED_BATCH_BYTES = 2 * TLS_RECORD_MAX,         /* of a body, encrypted and sent at once */
    MBED_OUT_BYTES = MBED_BATCH_BYTES + (8 << 10), /* the same as records */
};

/** What the links of one worker share: its faces, and buffers that are empty between any two calls. */
struct mbed_worker {
    unsigned refs; /* of its own thread only: its links and its configuration */
    unsigned peak; /* of refs, since memory was given back */
    struct mk_worker *worker;
    struct tls_live *live;
    mbedtls_ctr_drbg_context rng;
    struct mbed_face *fronts; /* as live->sites */
    struct mbed_face *backs;  /* as live->backends; made when they are first used */
    int64_t logged_s
        [2];     /* when a line was last written that a peer can provoke: of clients, of backends */
    size_t used; /* of out */
    char out[MBED_OUT_BYTES];
    char in[MBED_BATCH_BYTES];
};

struct mbed_worker *mbed_worker_new(struct mk_worker *worker, struct tls_live *live) MK_MUST_USE;
/** A link more. */
void mbed_worker_ref(struct mbed_worker *w);
void mbed_worker_put(struct mbed_worker *w);

enum mbed_state {
    MBED_NEW,     /* accepted, no byte came yet: the library knows nothing of it */
    MBED_SHAKING, /* the handshake */
    MBED_OPEN,
    MBED_ENDING, /* refused: the reason has left, input is thrown away until the peer has read it */
    MBED_BROKEN,
};

struct mbed_link {
    mbedtls_ssl_context ssl; /* from MBED_SHAKING on */
    struct mbed_worker *worker;
    const struct tls_site *site; /* of an accepted link */
    struct mbed_face *face;
    struct tls_outlet outlet;
    struct tls_pace pace;
    char *name;    /* SNI; heap; NULL: none */
    char *subject; /* heap; NULL: no certificate */
    int fd;
    uint32_t drained;
    uint16_t in_at, in_len;
    uint8_t state;    /* enum mbed_state */
    bool has_ssl;     /* ssl is to be freed */
    bool blocked;     /* the last read found nothing */
    bool has_all;     /* this recv took all that the socket had */
    bool has_ended;   /* the peer closed */
    bool told_end;    /* close_notify was sent */
    bool told_alert;  /* an alert was sent */
    bool has_touched; /* the library's buffers may have pages to give back */
    char in[MBED_IN_BYTES];
};

extern const struct mk_transport mbed_transport;

/** For tls_judge. */
const uint8_t *mbed_link_policy(const struct mk_link *l);

#endif
