/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_BACKEND_STREAM_H
#define MK_SERVER_BACKEND_STREAM_H

#include "base/code.h"
#include "core/loop.h"
#include "core/states.h"
#include "server/link/transport.h"

#include <monkey/stream.h>

/*
 * A stream is one of three: a client's connection that was taken, whose link and descriptor stay the
 * connection's; one that was dialled, which has its own; or a request's part of a connection that carries many
 * (src/protocol/tunnel.c), whose link is lent to it and never used. It is its owner's until mk_stream_close;
 * when its link is gone before that, it stays as a husk whose calls say so.
 */

struct mk_conn;

/* X(NAME, name, states that may follow, sentence) */
#define MK_STREAM_STATES(X)                                                                        \
    X(WAITING, waiting, TO(SHAKING) | TO(OPEN) | TO(BROKEN) | TO(CLOSED),                          \
      "to be connected; or the answer's head has not left")                                        \
    X(SHAKING, shaking, TO(OPEN) | TO(BROKEN) | TO(CLOSED), "connected: its link shakes hands")    \
    X(OPEN, open, TO(BROKEN) | TO(CLOSED), "it carries bytes")                                     \
    X(BROKEN, broken, TO(CLOSED), "its link is gone, and its owner has heard of it")               \
    X(CLOSED, closed, 0, "its owner is done with it: freed at the end of the turn")

enum mk_stream_state {
#define MK_STATE_ENUM(name, ...) MK_STREAM_##name,
    MK_STREAM_STATES(MK_STATE_ENUM)
#undef MK_STATE_ENUM
        MK_STREAM_STATE_COUNT
};

/** The rows of MK_STREAM_STATES. */
extern const struct mk_states mk_stream_states;

struct mk_stream;
struct mk_stream_watcher;

/** What differs between a stream that was taken and one that was dialled. */
struct mk_stream_kind {
    /** As mk_stream_read, while it is open. */
    ssize_t (*read)(struct mk_stream *s, void *buf, size_t len);
    /** As mk_stream_write, while it is open. NULL: its link sends. */
    ssize_t (*write)(struct mk_stream *s, const struct iovec *iov, int niov);
    /** As mk_stream_shutdown, while it is open. NULL: its link does. */
    void (*shutdown)(struct mk_stream *s);
    /** mk_stream_write returned n. NULL: nobody counts. */
    void (*on_write)(struct mk_stream *s, ssize_t n);
    /** mk_stream_hold, while it has its link. NULL: nobody counts. */
    void (*hold)(struct mk_stream *s, size_t bytes);
    /** Is there input that its descriptor does not show? NULL: never. */
    bool (*has_input)(const struct mk_stream *s);
    /** It broke, and let go of its link, which is to be closed now. */
    void (*cut)(struct mk_stream *s);
    /** Its owner is done with it before it broke, and it let go of its link. */
    void (*release)(struct mk_stream *s);
    /** So, and its peer is to know that more was to come. NULL: release. */
    void (*abort)(struct mk_stream *s);
};

struct mk_stream {
    struct mk_watch watch; /* dialled: of its descriptor. Taken: only to be run soon, and buried */
    struct mk_timer timer;
    struct mk_list all; /* of its worker's streams */
    struct mk_worker *worker;
    const struct mk_stream_kind *kind;
    struct mk_conn *conn; /* taken: whose it is; NULL when that is gone */
    struct mk_link *link; /* the connection's, or own; NULL when it is gone */
    struct mk_link own;
    mk_stream_fn fn;
    void *arg;
    void *owner;    /* dialled: for who keeps it between its users. Of a request: its tunnel */
    char *protocol; /* dialled: ALPN name that the backend must agree to; NULL: none */
    void (*connect)(struct mk_stream *s,
                    uint32_t bits); /* dialled: go on with connecting, or with the handshake */
    mk_event_fn conn_on_event;      /* taken: what the connection had while it spoke HTTP */
    struct mk_stream_watcher
        *watchers;           /* who is told of its end; NULL: nobody, or they were told */
    uint64_t received, sent; /* bytes that its owner read, and that were taken of it */
    uint64_t id;             /* for the log */
    int error;               /* errno of a failed connect; dialled: of what broke it */
    uint8_t state;           /* enum mk_stream_state */
    uint8_t soon;            /* what is told when it is run soon */
    bool first;              /* nothing was told yet */
    bool readable;           /* dialled: there may be input */
    bool hung_up;            /* dialled: the end stands behind the input */
    bool failing;            /* broken; what had arrived may be read before that is told */
    bool lost;               /* a read or a write said MK_E_PEER */
    bool unagreed;           /* dialled: the backend does not speak the protocol */
};

/** @return a stream of this worker, waiting, that will have a link of its own; NULL without memory. */
MK_INSIDE struct mk_stream *mk_stream_new(struct mk_worker *w, mk_stream_fn fn,
                                          void *arg) MK_MUST_USE;

/** Change its state; nothing else does. The new state may follow the present one. */
MK_INSIDE void mk_stream_go(struct mk_stream *s, enum mk_stream_state to);

/** It carries bytes from now on. The first event that its owner is told of lets it read and write. */
MK_INSIDE void mk_stream_begin(struct mk_stream *s);
/** Tell its owner after the present event. */
MK_INSIDE void mk_stream_tell_soon(struct mk_stream *s, unsigned events);
/** Tell its owner what epoll said of the descriptor. */
MK_INSIDE void mk_stream_on_epoll(struct mk_stream *s, uint32_t bits);
/** mk_request_on_taken_end, for one that has not ended. @return 0 or MK_E_NOMEM. */
MK_INSIDE int mk_stream_on_end(struct mk_stream *s, mk_taken_fn fn, void *arg) MK_MUST_USE;
/** The last event: its link goes, and the owner is told this. Nothing happens when it was told already. */
MK_INSIDE void mk_stream_break(struct mk_stream *s, unsigned events);

/** Tell all streams of a worker that ends; it dials no more. */
void mk_streams_end(struct mk_worker *w);
/** Free what their owners have not closed. */
void mk_streams_free(struct mk_worker *w);

#endif
