/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_H2_SESSION_H
#define KIT_H2_SESSION_H

#include "kit/h2/credit.h"
#include "kit/h2/flow.h"
#include "kit/h2/hpack.h"
#include "kit/h2/kept.h"
#include "kit/h2/message.h"
#include "kit/h2/past.h"
#include "kit/h2/reader.h"
#include "kit/h2/text.h"
#include "kit/h2/turns.h"
#include "kit/states/states.h"

/*
 * A side of a connection of HTTP/2 (RFC 9113), the server's or the client's, without I/O: bytes in, events out, and frames
 * written to memory that its owner sends. It allocates nothing for a stream: its owner does, and has what the session needs as
 * a part of it.
 *
 * A client's owner begins streams by h2_session_open, as many as h2_session_room says, and writes the head of each at once.
 *
 * Streams end in one way: they are marked, and h2_session_sweep tells their owner, outside of all other events. A session
 * that failed says so to its peer by GOAWAY, and takes no further bytes; one that is lost (memory) is to be closed at once.
 */

#define H2_STREAM_TO(state) (1U << H2_STREAM_##state)

/** RFC 9113 section 5.1; a stream that is idle has no object. X(NAME, name, next, sentence) */
#define H2_STREAM_STATES(X)                                                                        \
    X(HEAD, "head", H2_STREAM_TO(OPEN) | H2_STREAM_TO(HALF_REMOTE) | H2_STREAM_TO(CLOSED),         \
      "its first field block arrives")                                                             \
    X(OPEN, "open", H2_STREAM_TO(HALF_REMOTE) | H2_STREAM_TO(HALF_LOCAL) | H2_STREAM_TO(CLOSED),   \
      "both sides may send")                                                                       \
    X(HALF_REMOTE, "half_closed_remote", H2_STREAM_TO(CLOSED), "its peer sends no more")           \
    X(HALF_LOCAL, "half_closed_local", H2_STREAM_TO(CLOSED), "we send no more")                    \
    X(CLOSED, "closed", 0, "its owner is told at the next sweep")

enum h2_stream_state {
#define H2_STREAM_ENUM(name, ...) H2_STREAM_##name,
    H2_STREAM_STATES(H2_STREAM_ENUM)
#undef H2_STREAM_ENUM
};

extern const struct states h2_stream_states;

/** How a body leaves. X(NAME, sentence) */
#define H2_SENDING(X)                                                                              \
    X(NOTHING, "no body is to leave, or all of it has")                                            \
    X(READY, "it leaves in its turn, as far as windows let it")                                    \
    X(STARVED, "its owner has nothing now: h2_stream_resume")

enum h2_sending {
#define H2_SENDING_ENUM(name, sentence) H2_SENDING_##name,
    H2_SENDING(H2_SENDING_ENUM)
#undef H2_SENDING_ENUM
};

struct h2_session;

enum { H2_AGAIN_MAX = 32 };

/** A request's field block, whose fields are the same when it comes again, byte by byte, and the table has not changed. */
struct h2_again {
    struct h2_message message; /* after its fields */
    uint64_t number;           /* its owner's, for what it made of them; 0: it has kept nothing */
    uint32_t inserted;         /* the table: entries ever, and entries in it */
    uint16_t count;
    uint8_t len; /* 0: there is none */
    bool
        may_keep; /* the block that comes is this one, and its owner may keep what it makes of it */
    uint8_t bytes[H2_AGAIN_MAX];
};

/** The session's part of a stream, in its owner's object; zeroed before h2_events.begin gives it, or h2_session_open takes it. */
struct h2_stream {
    struct h2_session *session;
    struct h2_stream *chained; /* of the session's table, or of what is swept */
    struct h2_turn turn;
    struct h2_flow flow;
    struct h2_message message; /* whose fields come */
    int64_t to_come;           /* of its body, by Content-Length; -1: unknown */
    int32_t window;            /* bytes that its peer takes; may be below 0 */
    uint32_t id;
    uint8_t state;   /* enum h2_stream_state */
    uint8_t sending; /* enum h2_sending */
    /* a client's, of its owner after h2_session_open: the method is HEAD; CONNECT, so that 2xx opens a tunnel */
    bool is_head, is_connect;
    uint16_t status; /* a client's: of the head that came last, 0 before one; 1xx: interim */
    uint32_t error;  /* enum h2_error, of its end */
};

/** How a body ends. */
enum h2_last { H2_LAST_NOT, H2_LAST_END, H2_LAST_TRAILERS };

/**
 * What its owner does. None is called inside of another one of the same session, but inside h2_session_... functions;
 * `answered` also inside h2_head_end.
 *
 * A client is told of responses: a `field` for each field (:status first), and a `head` for each head, whose status is
 * st->status. After an interim one (1xx; never 101, RFC 9113 section 8.6) the message begins anew with the next head; after
 * the final one come `data`, perhaps trailers, and `end`, unless that head has the end: h2_stream_has_end says so in `head`.
 * A response may be whole before our side has ended: a peer that wants no more of the request then sends RST_STREAM with
 * NO_ERROR (RFC 9113 section 8.1). `over` without an end before it says that the response is cut, whatever its error.
 */
struct h2_events {
    /** A peer begins a stream. Never called for a client, which may have NULL. @return the session's part of it; NULL: there is no memory, and it is refused */
    struct h2_stream *(*begin)(struct h2_session *s, uint32_t id);
    /** A field of its head or, with message.is_trailer, of its trailers. Borrowed. @return 0; MK_E_BAD, MK_E_NOMEM: the stream is reset */
    int (*field)(struct h2_stream *st, enum h2_field kind, const struct hpack_field *f);
    /** All fields of its head are those that its owner gave this number by h2_stream_keep. NULL: it never does. @return false: they are gone, and come one by one */
    bool (*again)(struct h2_stream *st, uint64_t number);
    /** Its head is whole; HALF_REMOTE: nothing follows. @return 0; MK_E_BAD: it is reset; MK_E_NOMEM: it is refused, and may be sent again (RFC 9113 section 8.7); a client's is reset */
    int (*head)(struct h2_stream *st);
    /** Bytes of its body; h2_stream_use when they are needed no more. @return 0; MK_E_NOMEM: it is reset */
    int (*data)(struct h2_stream *st, const uint8_t *bytes, size_t len);
    /** Its peer sends no more, trailers perhaps. Not after a head that nothing follows. */
    void (*end)(struct h2_stream *st);
    /** @return bytes of its body at dst, 0 only with its end; MK_E_AGAIN: nothing now; another error: it is reset */
    ssize_t (*give)(struct h2_stream *st, char *dst, size_t len, enum h2_last *last);
    /** Its body has left but for its trailers: h2_head_begin to h2_head_end. @return false: there are none to send */
    bool (*trailers)(struct h2_stream *st);
    /** Our side has ended, its peer's has not: for a client, its request is sent and the response is not whole yet. */
    void (*answered)(struct h2_stream *st);
    /** It is closed: the part is the owner's again. */
    void (*over)(struct h2_stream *st);
};

/** Memory that frames are written to. */
struct h2_out {
    char *p;
    size_t used, cap;
};

enum { H2_CHAINS = 16 };

struct h2_session {
    const struct h2_events *events;
    struct h2_reader reader;
    struct hpack_decoder decoder;
    struct hpack_encoder encoder;
    char *room; /* for fields, HPACK_FIELD_MAX bytes: the owner's, whenever bytes are received */
    struct h2_out *out;  /* where frames go; NULL: nowhere now, they wait */
    struct h2_text late; /* frames that wait; its sum is the owner's */
    struct h2_text part; /* the beginning of a field */
    struct h2_again again;
    struct h2_stream *chains[H2_CHAINS]; /* by their ids */
    struct h2_stream *over;              /* closed: to be swept */
    struct h2_stream *current; /* the stream of the frame that comes; NULL: nobody reads it */
    struct h2_turns turns;
    struct h2_past past;
    struct h2_credit credit;
    struct h2_flow flow;
    states_log_fn
        log; /* of its streams' states, each of which is a struct h2_stream; NULL, as at first: nobody reads it */
    const struct h2_growth *growth; /* of this session and others; NULL: without a bound */
    struct h2_kept
        *kept; /* the owner's, after h2_session_init, for all sessions of its thread; NULL: none */
    int64_t begun_ms;      /* when it began: our settings left; -1: they are acknowledged */
    int64_t asked_ms;      /* when our PING that measures left; -1: none is under way */
    int64_t now_ms;        /* the owner's, whenever bytes are received or used */
    int32_t window;        /* bytes of bodies that the peer takes */
    int32_t peer_window;   /* of its streams, as its settings say */
    int32_t next_window;   /* so, when the whole of the SETTINGS that comes is there */
    uint32_t peer_streams; /* a client's: SETTINGS_MAX_CONCURRENT_STREAMS of its peer */
    int32_t stream_window,
        window_max; /* of streams at first; of the connection, and what all streams' grow by, at most */
    int32_t widened;                 /* by how much the windows of streams have grown */
    int32_t round_ms;                /* the shortest round trip so far; -1: none was measured yet */
    uint32_t newest;                 /* stream that the client has begun */
    uint32_t nstreams, max_streams;  /* that are not closed */
    uint32_t resets, resets_of_peer; /* since the owner looked */
    bool ends_stream;                /* the block that comes has END_STREAM */
    bool is_client;
    bool is_assumed;    /* peer_streams is, as no settings of the peer have come */
    bool is_greeted;    /* the first settings of the peer have come, all of them */
    bool takes_connect; /* SETTINGS_ENABLE_CONNECT_PROTOCOL of the peer (RFC 8441 section 3) */
    bool is_leaving;    /* a client begins no more: GOAWAY came, or h2_session_refuse sent it */
    bool is_settled;    /* our settings are acknowledged, or hold for all streams anyway */
    bool is_refusing;   /* GOAWAY was sent with the newest stream: those after it are skipped */
    bool is_over;       /* it failed, or ended: nothing is received */
    bool is_flooded;    /* so, for its peer sent what is cheap and nothing else */
    bool is_lost;       /* memory is missing: it cannot go on */
    bool was_pinged;    /* our PING was answered; the owner's to clear */
    uint8_t
        samples; /* of the round trip, by PING: the first SETTINGS may have been acknowledged late */
    struct h2_priority early; /* PRIORITY_UPDATE came before its stream */
    uint32_t early_id;
};

struct h2_limits {
    bool is_client;       /* this is the client's side */
    uint32_t max_streams; /* SETTINGS_MAX_CONCURRENT_STREAMS; a client's own bound, not announced */
    uint32_t max_head;    /* SETTINGS_MAX_HEADER_LIST_SIZE */
    int32_t stream_window; /* SETTINGS_INITIAL_WINDOW_SIZE */
    int32_t window_max;    /* of the connection; a client opens it at once */
    const struct h2_growth
        *growth; /* shared by sessions of one thread, which it outlives; NULL: none */
};

/* ---- the connection ---- */

/** Begin, and write our settings, after a client's preface (RFC 9113 section 3.4). @param sum  see h2_text */
void h2_session_init(struct h2_session *s, const struct h2_events *events,
                     const struct h2_limits *limits, struct h2_out *out, size_t *sum,
                     int64_t now_ms);
/** Its owner frees the streams that are left. */
void h2_session_fini(struct h2_session *s);

/** Take what the peer sent; room and now_ms are set. Bytes after an error are skipped. */
void h2_session_receive(struct h2_session *s, const uint8_t *bytes, size_t len);
/** Write frames to out, as long as it has room for a large one. @return whether there is more to write. */
bool h2_session_write(struct h2_session *s);
/** Is there something that could be written now? */
bool h2_session_has_output(const struct h2_session *s);
/** Tell of the streams that have closed. */
void h2_session_sweep(struct h2_session *s);

/** End it: GOAWAY with the newest stream of the peer, and nothing is received after it. */
void h2_session_fail(struct h2_session *s, enum h2_error error);
/** A cheap frame came, or a fault. @return false: too many, and the session fails. */
bool h2_session_pay(struct h2_session *s, enum h2_price what);
/** GOAWAY with the largest number: the peer is to begin no more streams (RFC 9113 section 6.8). */
void h2_session_notice(struct h2_session *s);
/** GOAWAY with the newest stream of the peer: what comes after it is skipped. A client begins no more streams then. */
void h2_session_refuse(struct h2_session *s);
void h2_session_ping(struct h2_session *s);

/** Bytes of heap that it has, beside what its texts sum up. */
size_t h2_session_held(const struct h2_session *s);

/* ---- a client's ---- */

/**
 * How many streams may be begun now: the smaller one of limits.max_streams and of the peer's SETTINGS_MAX_CONCURRENT_STREAMS
 * (RFC 9113 section 5.1.2), less those that are open. 100 is assumed until the peer's settings come; where they name less than
 * is open, there is no room until enough have closed. 0 when the session is over, lost or leaving (the peer sent GOAWAY), or
 * has no numbers left: what is to be sent then needs another connection.
 *
 * GOAWAY closes the streams that the peer did not see (RFC 9113 section 6.8): `over` with H2_E_REFUSED_STREAM, as where the
 * peer refused one, and the request may be sent again whatever its method is (section 8.7). The others go on.
 */
unsigned h2_session_room(const struct h2_session *s);
/**
 * Begin a stream with the next number; it is OPEN. Its head is to follow at once, before anything else is asked of the session,
 * as numbers must leave in their order (RFC 9113 section 5.1.1): h2_head_begin, h2_head_add for the pseudo-header fields first
 * (:method, :scheme, :authority, :path) and the others, and h2_head_end with H2_FOLLOWS_BODY or H2_FOLLOWS_NOTHING. A session
 * for which h2_head_begin fails then is lost.
 * @param st  zeroed; the owner's again after `over`
 * @return false: there is no room, and st was not touched
 */
bool h2_session_open(struct h2_session *s, struct h2_stream *st) MK_MUST_USE;

/* ---- streams ---- */

/** End it on both sides. Nothing where it is closed. */
void h2_stream_reset(struct h2_stream *st, enum h2_error error);
/** Bytes of its body were used: its peer may send more. */
void h2_stream_use(struct h2_stream *st, size_t len);
/** Inside of `head`: may the fields of this head be kept, for a block like this one? */
bool h2_stream_may_keep(const struct h2_stream *st);
/** They are, by this number. Only where they may be. */
void h2_stream_keep(struct h2_stream *st, uint64_t number);
/** Its owner has bytes again, or the end. */
void h2_stream_resume(struct h2_stream *st);

static inline bool h2_stream_is_closed(const struct h2_stream *st)
{
    return st->state == H2_STREAM_CLOSED;
}

/** Does its peer send no more? */
static inline bool h2_stream_has_end(const struct h2_stream *st)
{
    return st->state == H2_STREAM_HALF_REMOTE || st->state == H2_STREAM_CLOSED;
}

/* ---- heads ---- */

/** A head or trailers that are written. */
struct h2_head {
    struct h2_stream *stream;
    uint8_t *begin, *at;
};

/** @param most  bytes: the sum of hpack_encoded_max of its fields, pseudo-header fields among them. @return false: no memory, or its stream is closed. */
bool h2_head_begin(struct h2_head *h, struct h2_stream *st, size_t most) MK_MUST_USE;
static inline void h2_head_status(struct h2_head *h, unsigned status)
{
    h->at = hpack_encode_status(&h->stream->session->encoder, h->at, status);
}
static inline void h2_head_add(struct h2_head *h, struct mk_str name, struct mk_str value)
{
    h->at = hpack_encode(&h->stream->session->encoder, h->at, name, value);
}
/** The first of these lines, if it is cheap to find: see hpack_encode_line. */
static inline bool h2_head_add_line(struct h2_head *h, struct mk_str *lines)
{
    uint8_t *end = hpack_encode_line(&h->stream->session->encoder, h->at, lines);

    h->at = end ? end : h->at;
    return end != NULL;
}

/** What follows a head. */
enum h2_follows { H2_FOLLOWS_HEAD, H2_FOLLOWS_BODY, H2_FOLLOWS_NOTHING };
void h2_head_end(struct h2_head *h, enum h2_follows follows);

#endif
