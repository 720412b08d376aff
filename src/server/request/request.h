/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_REQUEST_REQUEST_H
#define MK_SERVER_REQUEST_REQUEST_H

#include "base/arena.h"
#include "http/h1_body.h"
#include "http/h1_head.h"
#include "server/request/refusal.h"

#include <monkey/request.h>

struct mk_conn;
struct mk_file;
struct mk_filter;
struct mk_pipe;
struct mk_plugin;
struct mk_request;
struct mk_site;
struct mk_view;
struct mk_wire;
struct mk_worker;

/** No status of HTTP, but of logs: the client did not wait for an answer. */
enum { MK_STATUS_CLIENT_LEFT = 499 };

/** A part of an answer's body: where the bytes come from. In the request's arena. */
struct mk_source {
    struct mk_source *next;
    enum { MK_SOURCE_MEMORY, MK_SOURCE_FILE, MK_SOURCE_PRODUCER, MK_SOURCE_PIPE } kind : 8;
    bool framed;    /* MEMORY, FILE: the size of its chunk has left, and its end has not */
    int fd;         /* FILE */
    uint32_t taken; /* PRODUCER: bytes that left its pipe since it was asked */
    union {
        const char *bytes;    /* MEMORY: lives as long as the request */
        struct mk_file *file; /* FILE: a reference that fd belongs to; NULL: fd is our own */
        struct mk_pipe *pipe; /* PIPE: owned */
        mk_fill_fn fill;      /* PRODUCER: NULL: none */
    };
    union {
        struct {
            uint64_t at, end; /* MEMORY, FILE: what is left */
        };
        struct {
            mk_produce_fn produce; /* PRODUCER */
            void *arg;
        };
    };
};

/** How the end of an answer's body shows (RFC 9112 section 6). A new request has the first. */
enum mk_framing {
    MK_FRAMING_LENGTH, /* by the length that its head says */
    MK_FRAMING_CHUNKS, /* by the last chunk, or what its protocol has for that; trailers may follow */
    MK_FRAMING_CLOSE,  /* by the end of the connection */
    MK_FRAMING_ABSENT, /* there is no body, whatever the head says */
};

/** A field behind a chunked body, with its line end. In the request's arena. */
struct mk_trailer {
    struct mk_trailer *next;
    struct mk_str line;
};

/** One request, from its first byte to the last of its answer. */
struct mk_request {
    const struct mk_wire *wire; /* the protocol that carries it */
    struct mk_conn *conn;       /* NULL: no connection does */
    struct mk_worker *worker;
    struct mk_view *view; /* the configuration it began with; a reference */
    const struct mk_site *site;
    int64_t began_ms;
    uint64_t id;          /* in logs: its connection's */
    uint32_t patience_ms; /* how long its handler may take; 0: for ever */
    uint32_t traced;      /* its number on its connection, from 1; 0: its changes are not logged */
    struct mk_arena arena;
    /* what is above is set when it begins, the rest is zeroed */
    const char *text; /* its head's bytes; they may move when more input is read */
    struct mk_h1_head head;
    struct mk_h1_body body;
    struct mk_str path;             /* decoded and normalised; terminated, in the arena */
    struct mk_str request_path;     /* the same before an index or fallback file took its place */
    struct mk_str query;            /* of the target of mk_request_reroute, or of TryFiles */
    struct mk_str user;             /* in the arena; p NULL: nobody */
    const char *reason;             /* of a refusal; NULL: none */
    struct mk_source *first, *last; /* of the answer's body, what is still to come */
    struct mk_filter *filter;       /* of the body: the one nearest to the client; NULL: none */
    struct mk_trailer *trailer;     /* of the answer, the first; in the order of sending */
    const char *lines;              /* of mk_reply_field, for the answer's head; NULL: none */
    char *trailers;                 /* field lines behind its body, as they came; NULL: none */
    uint64_t body_sent;             /* of the answer, framing not counted */
    uint64_t
        body_left; /* promised by the head, not yet given by sources; above INT64_MAX: no promise */
    uint64_t ticket;               /* 0: none */
    struct mk_kept *kept;          /* mk_request_keep, newest first */
    uint32_t head_len;             /* of text; 0: the head is not complete */
    uint32_t read_turn;            /* the turn of the loop that read_bytes counts in */
    uint32_t read_bytes;           /* of its body, in that turn */
    const struct mk_plugin *asked; /* the last that was asked */
    uint16_t hook;                 /* that said LATER, in its stage */
    uint16_t directory_from;       /* first hook to ask for a directory */
    uint16_t status;               /* of the answer; 0: not begun */
    uint16_t page_of;              /* the status for which a handler makes the page; 0: none */
    uint8_t waits_in;              /* enum mk_stage: in which a hook said LATER */
    uint8_t reroutes;
    uint8_t asking;    /* enum mk_asking */
    uint8_t answering; /* enum mk_answering */
    uint8_t receiving; /* enum mk_receiving */
    uint8_t framing;   /* enum mk_framing */
    bool moved;     /* mk_request_reroute: method, path and query are no longer those of the head */
    bool found;     /* an index or fallback file took the path's place */
    bool requeried; /* and query, which an item of TryFiles had, that of the target's */
    bool ends_on_hangup; /* a client that closes its sending half has left */
    bool overrun;        /* sources gave more than its head promised */
    bool misused;        /* a wrong call for this request was logged */
    bool keep_alive;
    bool is_secure;          /* nobody between its client and the server reads it */
    uint32_t body_waited_ms; /* for its client to send of its body */
    uint32_t held;           /* mk_request_hold */
};

/** A piece of the head as bytes. Valid until the request ends or more input is read. */
__attribute__((always_inline)) static inline struct mk_str
mk_request_text(const struct mk_request *r, struct mk_piece piece)
{
    return mk_piece_str(piece, r->text);
}
struct mk_str mk_request_field(const struct mk_request *r, enum mk_field_id id);
/** The host that was asked, with its port: an absolute target wins over Host (RFC 9112 section 3.2.2). p NULL: neither. */
struct mk_str mk_request_authority(const struct mk_request *r);
/** Log that its handler did not answer within HandlerTimeout. */
void mk_request_log_slow_handler(const struct mk_request *r);
/** @return ms that so many bytes may take. @param rate  bytes a second, above 0 */
int64_t mk_request_time_for(uint64_t bytes, int64_t rate);
/** @return ms that its client may take now for more of its body: BodyTimeout, and MinRate for the whole; perhaps below 0. */
int64_t mk_request_sender_ms(const struct mk_request *r);
/** A plugin's line of the error log, about a connection, or a request without one (c NULL). */
void mk_log_of_plugin(const struct mk_worker *w, uint64_t id, const char *peer,
                      enum mk_log_level level, const char *fmt, va_list args) MK_PRINTF(5, 0);
/** A field that is a list: several lines count as one with commas between (RFC 9110 section 5.3). */
struct mk_str mk_request_list(struct mk_request *r, enum mk_field_id id, struct mk_str name);

#endif
