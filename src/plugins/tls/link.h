/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TLS_LINK_H
#define TLS_LINK_H

#include "context.h"
#include "kit/tls/outlet.h"
#include "kit/tls/pace.h"

#include <monkey/transport.h>

/*
 * A link of this transport. OpenSSL's records gather in a buffer of the worker and leave in one call, as kit/tls/outlet.h says.
 */

enum {
    PIECE_BYTES =
        62 << 10, /* of a body, read, encrypted and sent at once: with framing at most 64 KB wait */
    OUT_BYTES = PIECE_BYTES + (8 << 10), /* the same as records */
    QUIET_RECORDS_MAX = 32,              /* without data, one after the other, in one recv */
};

/** What the links of one worker share: buffers that are empty between any two calls, and the configuration. */
struct tls_worker {
    unsigned refs; /* of its own thread only: its links and its configuration */
    struct mk_worker *worker;
    struct tls_live *live;
    BIO_METHOD *method;
    int64_t logged_s[2]; /* when a line of clients, and of backends, was last written */
    bool has_no_kernel;  /* it was asked, and has no TLS */
    size_t used;         /* of out */
    char out[OUT_BYTES];
    char in[PIECE_BYTES];
};

struct tls_worker *tls_worker_new(struct mk_worker *worker, struct tls_live *live) MK_MUST_USE;
void tls_worker_put(struct tls_worker *w);

static inline int64_t worker_now_s(const struct tls_worker *w)
{
    return mk_worker_now_ms(w->worker) / 1000;
}

enum tls_state {
    TLS_SHAKING, /* the handshake */
    TLS_OPEN,
    TLS_ENDING, /* refused: the reason has left, input is thrown away until the peer has read it */
    TLS_BROKEN,
};

struct tls_link {
    SSL *ssl;
    struct tls_worker *worker;
    const struct tls_site *site; /* of an accepted link */
    struct tls_outlet outlet;
    uint32_t thrown; /* bytes that came behind the end */
    struct tls_pace pace;
    char *subject; /* heap; NULL: no certificate */
    int fd;
    uint8_t state;  /* enum tls_state */
    bool blocked;   /* the last read found nothing */
    bool has_all;   /* this recv took all that the socket had */
    bool has_ended; /* the peer closed */
    bool is_begun;  /* bytes came */
    bool is_plain;  /* ...and were those of a request */
    bool told_end;  /* close_notify was sent */
    bool in_kernel; /* it encrypts what we send */
};

extern const struct mk_transport transport;

static inline struct tls_link *link_of(const SSL *ssl)
{
    return BIO_get_data(SSL_get_rbio(ssl));
}

/** For tls_judge. */
const uint8_t *link_policy(const struct mk_link *l);

#endif
