/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TLS_LINK_H
#define KIT_TLS_LINK_H

#include "kit/tls/outlet.h"
#include "kit/tls/pace.h"
#include "kit/tls/plan.h"

#include <monkey/transport.h>

/*
 * The link of a TLS transport: what is the same with every library. A library encrypts and decrypts; when the link reads,
 * writes, waits, refuses and ends is decided here, and a plugin's transport is made of the functions at the end of
 * this header. Its own object begins with a struct tls_link, and is the state of the struct mk_link.
 *
 * Input: the library reads the socket by tls_link_read, which notes what the socket had. Output: the library's records
 * gather in a buffer of the worker (tls_link_write) and leave in one call when the library is done; what the
 * socket does not take waits in the link's outlet. The worker's buffers are empty between any two calls.
 */

/* State, name, and the states that may follow it. */
#define TLS_LINK_STATES(X)                                                                         \
    X(NEW, new, TLS_LINK_MAY(SHAKING) | TLS_LINK_MAY(ENDING) | TLS_LINK_MAY(BROKEN))               \
    X(SHAKING, shaking, TLS_LINK_MAY(OPEN) | TLS_LINK_MAY(ENDING) | TLS_LINK_MAY(BROKEN))          \
    X(OPEN, open, TLS_LINK_MAY(BROKEN))                                                            \
    X(ENDING, ending, TLS_LINK_MAY(BROKEN))                                                        \
    X(BROKEN, broken, 0)

enum tls_link_state {
/* NEW: accepted, no byte came, the library knows nothing of it. SHAKING: the handshake. ENDING: refused, the reason
     * has left, and input is thrown away until the peer has read it. BROKEN: every call answers MK_E_PEER. */
#define TLS_LINK_ENUM(upper, lower, next) TLS_LINK_##upper,
    TLS_LINK_STATES(TLS_LINK_ENUM)
#undef TLS_LINK_ENUM
};

enum { TLS_WHY_MAX = 128 }; /* room for a reason in words */

/** How a call of the library ended. */
enum tls_step {
    TLS_STEP_DONE, /* the handshake is over; bytes were read */
    TLS_STEP_AGAIN, /* the input was no data, or ended in the middle: tls_link.is_blocked tells which */
    TLS_STEP_END,  /* the peer said that no more comes: close_notify */
    TLS_STEP_CUT,  /* the input ended without close_notify */
    TLS_STEP_FAIL, /* why() tells */
};

struct tls_link;

/** A TLS library's operations on a link. None of them blocks; all run on the link's worker. */
struct tls_link_engine {
    const char *name; /* of the plugin, for the log */
    /**
     * Go on with the handshake as far as the input goes. In state NEW the first bytes are to be read first; when they
     * are those of a record, tls_link_become(t, TLS_LINK_SHAKING).
     * @return DONE, AGAIN or FAIL; whatever it is when tls_link.is_plain was set.
     */
    enum tls_step (*shake)(struct tls_link *t);
    /** @return what the handshake agreed on by ALPN (RFC 7301), borrowed from the link; p NULL: nothing. */
    struct mk_str (*agreed)(const struct tls_link *t);
    /** In state OPEN. @param got  out, with DONE: bytes, > 0 */
    enum tls_step (*read)(struct tls_link *t, void *buf, size_t len, size_t *got);
    /** One record, at most. @return bytes that are in records now, > 0; MK_E_AGAIN: the kernel, which makes them, is full; MK_E_PEER: why() tells. */
    ssize_t (*write)(struct tls_link *t, const char *bytes, size_t len);
    /** Where the kernel makes the records; as in struct mk_transport. NULL: it never does. */
    ssize_t (*sendfile)(struct tls_link *t, int fd, uint64_t offset, size_t len);
    /** Does the library keep input that was read from the socket? */
    bool (*has_input)(const struct tls_link *t);
    /** Write close_notify. */
    void (*say_end)(struct tls_link *t);
    /** Nothing is being read or written: give back memory. NULL: there is nothing to give. */
    void (*rest)(struct tls_link *t);
    /** What the last call that failed was about. @return in words; static or in text. Forgets it. */
    const char *(*why)(struct tls_link *t, char text[TLS_WHY_MAX]);
    /** The same of a handshake, where a certificate may be the reason. */
    const char *(*why_refused)(struct tls_link *t, char text[TLS_WHY_MAX]);
    /** Free the library's part and the whole object. */
    void (*free)(struct tls_link *t);
};

/** What the links of one worker share; part of the plugin's own. Not zeroed by init: pages of buffers that no byte passed cost nothing. */
struct tls_local {
    const struct tls_link_engine *engine;
    struct mk_worker *worker;
    struct tls_live *live;
    struct tls_census *census; /* live's; NULL: nothing is counted */
    int64_t logged_s
        [2]; /* when a line was last written that a peer can provoke: of clients, of backends */
    char *in, *out; /* what is to be encrypted, and records; empty between any two calls */
    size_t in_size, out_size, used; /* used: of out */
};

struct tls_link {
    struct tls_local *local;
    const struct tls_site *site; /* of an accepted link */
    struct tls_outlet outlet;
    struct tls_pace pace;
    char *subject;       /* heap; NULL: no certificate of a client */
    struct mk_str asked; /* of a backend: mk_link_offer, to which it must agree; p NULL: nothing */
    int fd;
    uint32_t thrown;   /* bytes that came behind the end */
    uint8_t state;     /* enum tls_link_state */
    bool is_blocked;   /* the last read found nothing */
    bool has_all;      /* this recv took all that the socket had */
    bool has_ended;    /* the peer closed */
    bool has_failed;   /* the socket did */
    bool is_begun;     /* bytes came */
    bool is_plain;     /* ...and were those of a request */
    bool has_said_end; /* close_notify was written */
    bool in_kernel;    /* it makes the records that we send */
    bool is_unagreed;  /* the backend does not; set by shake too, which fails then */
};

/* ---- for the plugin's worker ---- */

/** The caller has set the buffers; live gets a reference. */
void tls_local_init(struct tls_local *w, const struct tls_link_engine *engine,
                    struct mk_worker *worker, struct tls_live *live);
void tls_local_fini(struct tls_local *w);

/* ---- for the engine ---- */

bool tls_link_may_become(enum tls_link_state from, enum tls_link_state to);
/** Builds with assertions stop at a change that the table does not have. */
void tls_link_become(struct tls_link *t, enum tls_link_state next);

/** Read the socket. Notes is_blocked, has_all, has_ended, has_failed, is_begun, is_plain. @return as recv(2). */
ssize_t tls_link_read(struct tls_link *t, void *to, size_t len);
/** Keep records until they are sent. @return bytes taken, > 0 unless len is 0, or MK_E_PEER, MK_E_NOMEM. */
ssize_t tls_link_write(struct tls_link *t, const void *records, size_t len);
/**
 * Send what waits with the link and what was written since, or keep it.
 * @param bytes  of the caller's in what was written since
 * @param told   grows by those of his bytes that have left now
 * @return 0: all has left; MK_E_AGAIN: the rest waits; MK_E_PEER, MK_E_NOMEM: the link is broken.
 */
int tls_link_flush(struct tls_link *t, size_t bytes, bool more, size_t *told) MK_MUST_USE;
/** A line for the log; one a second, since a peer can make them come as fast as it connects. */
void tls_link_complain(struct tls_link *t, enum mk_log_level level, const char *what,
                       const char *reason);
/** The link is broken; an alert that was written leaves or is given up. @return MK_E_PEER. */
int tls_link_fail(struct tls_link *t, const char *what, const char *reason);

/* ---- of struct mk_transport ---- */

ssize_t tls_link_recv(struct mk_link *l, void *buf, size_t len);
ssize_t tls_link_send(struct mk_link *l, const struct iovec *iov, int niov, bool more);
ssize_t tls_link_sendfile(struct mk_link *l, int fd, uint64_t offset, size_t len);
void tls_link_shutdown(struct mk_link *l);
void tls_link_close(struct mk_link *l);
size_t tls_link_held(const struct mk_link *l);

/** For tls_judge. */
const uint8_t *tls_link_policy(const struct mk_link *l);

#endif
