/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_PROTOCOL_H
#define MONKEY_PROTOCOL_H

/*
 * A protocol is a plugin: it takes over connections whose clients choose it, and makes requests of their bytes that pass
 * the same stages, handlers, filters and limits as those of HTTP/1.
 *
 * A client chooses a protocol by ALPN (RFC 7301), on a listener with a secure transport, or by beginning with the protocol's
 * preface, on a listener with the protocol's flag (`Listen 8080 h2`). The connection's place, its counting and stage 10
 * stay the server's; its bytes are the protocol's, as a stream (<monkey/stream.h>). HTTP/1 goes on for everyone else.
 *
 * All functions and operations of a connection run on its worker.
 */

#include <monkey/request.h>
#include <monkey/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_exchange;
struct mk_tunnel;
struct mk_context;

struct mk_protocol {
    size_t size;           /* sizeof(struct mk_protocol) */
    struct mk_str name;    /* its ALPN name, and its flag of Listen: "h2" */
    struct mk_str preface; /* the first bytes of each client, at most 64 */
    /**
     * Take over a connection. Its first event has MK_IO_READ | MK_IO_WRITE, and the preface is still to be read.
     * @param ctx     of the protocol's plugin, for the default site. Borrowed for the call
     * @param stream  the plugin's from now on; mk_stream_tell gives it a callback. Its end is the connection's
     * @return 0; an error: the library closes the stream.
     */
    int (*begin)(const struct mk_context *ctx, struct mk_conn *c, struct mk_stream *stream);
};

/** What limits a connection, as its configuration has it. Times in ms, sizes in bytes. */
struct mk_conn_limits {
    size_t size;           /* sizeof(struct mk_conn_limits), set by the caller */
    unsigned timeout_ms;   /* Timeout: for the first request, and for the rest of each head */
    unsigned keepalive_ms; /* KeepAliveTimeout: between requests */
    unsigned write_ms;     /* WriteTimeout: for a client that takes nothing */
    size_t max_head;       /* MaxRequestSize */
    unsigned max_fields;   /* MaxHeaders */
    unsigned max_requests; /* MaxKeepAliveRequest */
    bool is_stopping;      /* the server stops: no further requests are wanted */
};
MK_API void mk_conn_limits(const struct mk_conn *c, struct mk_conn_limits *limits);

/**
 * What the protocol keeps in memory for a connection, in bytes, in place of what it said before: it counts for MaxMemory. Its
 * requests are counted by the library, from mk_exchange_begin to their end. When memory is used up, requests are ended, which
 * mk_carrier.end tells with MK_E_NOMEM, and connections, of both those that hold much for long.
 */
MK_API void mk_conn_hold(struct mk_conn *c, size_t bytes);

/**
 * For transports. The text lives as long as the link.
 * @return of an accepted link: the ALPN name of the protocol that connections of its listener may choose beside HTTP/1. Of a
 *         client link: the only protocol to offer, which the backend must agree to (mk_dial.protocol). {NULL, 0}: none
 */
MK_API struct mk_str mk_link_offer(const struct mk_link *l);

/* ---- requests ---- */

/** The head of a request. All texts are borrowed for the call. */
struct mk_exchange_head {
    size_t size; /* sizeof(struct mk_exchange_head) */
    struct mk_str method;
    struct mk_str target; /* path and query, `*`, or the authority of CONNECT */
    /**
     * Field lines with their line ends, Host among them. Content-Length, Transfer-Encoding, Connection, Upgrade, Expect, TE
     * and Trailer are not allowed.
     */
    struct mk_str fields;
    bool has_body;
    bool expects_continue;  /* Expect: 100-continue (RFC 9110 section 10.1.1) */
    int64_t content_length; /* of a body; -1: unknown */
    /**
     * The protocol that its client wants to speak on the request's stream from now on, a token (RFC 8441); {NULL, 0}: none. It
     * has no body then. Hooks and handlers see what HTTP/1.1 has for that: the method, which is to be GET for WebSocket, with
     * `Connection: Upgrade` and `Upgrade`. The answer 101 is success; an answer of 2xx, which would say so too, becomes 501.
     */
    struct mk_str upgrade;
    bool takes_trailers; /* TE: trailers (RFC 9110 section 10.1.4); not with upgrade */
    /**
     * Its protocol has judged the fields: names are tokens, values have no control byte but tabs (RFC 9110 section 5), Host is
     * among them and none that is not allowed.
     */
    bool is_judged;
    /**
     * The whole head as HTTP/1.1 has it: method and target as above, ` HTTP/1.1`, the fields and an empty line. Only for a head
     * with neither upgrade, expects_continue nor takes_trailers, and without a body of a known length; fields is not read then. It
     * is judged like any head. {NULL, 0}: it is made of the others
     */
    struct mk_str text;
};

/**
 * How a protocol carries a request. `arg` is that of mk_exchange_begin. No operation is called after end, nor after
 * mk_exchange_break or mk_tunnel_break.
 */
struct mk_carrier {
    size_t size;           /* sizeof(struct mk_carrier) */
    struct mk_str version; /* of the protocol, as logs and scripts name it: "HTTP/2.0" */
    /** Bytes of the request's body. @return > 0; 0: its end; MK_E_AGAIN: call mk_exchange_arrived when more has come; MK_E_BAD, MK_E_PEER. */
    ssize_t (*read)(void *arg, char *dst, size_t len);
    /** @return bytes that have come and were not read. */
    size_t (*buffered)(const void *arg);
    /** @return room for the field lines of a head, len bytes, which is this request's until a head is begun for another one; NULL: no memory. */
    char *(*begin_head)(void *arg, size_t len);
    /** @return whether that room is still this request's. */
    bool (*has_head)(const void *arg);
    /**
     * A head is complete. An interim response (1xx but 101) is followed by another head. 101 answers requests with an
     * upgrade alone.
     * @param fields    field lines with their line ends, in the case in which they were written; no field of HTTP/1's framing
     *                  but Content-Length. Borrowed for the call
     * @param has_body  bytes follow: mk_exchange_pull gives them, then or after ready
     * @return 0; an error breaks the answer off.
     */
    int (*head)(void *arg, unsigned status, struct mk_str fields, bool has_body);
    /** The answer may go on: call mk_exchange_pull when the client takes more. Not inside this call. */
    void (*ready)(void *arg);
    /** Field lines after the body; inside mk_exchange_pull, with its last bytes. NULL: the protocol has no trailers. */
    void (*trailers)(void *arg, struct mk_str fields);
    /** The request has ended. @param error  0: its answer is complete; otherwise it is broken off. */
    void (*end)(void *arg, int error);
    /**
     * The request has ended, and its handler has its stream (mk_request_take): read gives bytes of the client, ready says that
     * there are some for it, and end that the handler has closed the stream; mk_tunnel_pull gives what is left then. NULL:
     * streams cannot be taken.
     * @param tunnel  in place of the exchange; the protocol's until mk_tunnel_break
     */
    void (*open)(void *arg, struct mk_tunnel *tunnel);
};

/**
 * Begin a request: sites, stages and handlers as for HTTP/1, perhaps with an answer inside this call.
 * @param exchange out, before the first operation is called: its name until end, or mk_exchange_break
 * @param carrier  lives as long as the request
 * @return 0; MK_E_INVALID: the head has bytes that none may have, or a field that is not allowed; MK_E_LIMIT: a line is
 *         too long; MK_E_NOMEM. After an error nothing was begun.
 */
MK_API int mk_exchange_begin(struct mk_exchange **exchange, struct mk_conn *c,
                             const struct mk_exchange_head *head, const struct mk_carrier *carrier,
                             void *arg) MK_MUST_USE;
/**
 * Take bytes of the answer's body, which are copied or read from their file to dst.
 * @param len      > 0
 * @param is_last  out: the body ends with these bytes, perhaps none. end was called, and exchange is gone
 * @return bytes; 0; MK_E_AGAIN: nothing now, ready will be called; another error: the answer is broken off, end was
 *         called, and exchange is gone.
 */
MK_API ssize_t mk_exchange_pull(struct mk_exchange *exchange, char *dst, size_t len,
                                bool *is_last) MK_MUST_USE;
/** Bytes of the request's body have come, or its end. */
MK_API void mk_exchange_arrived(struct mk_exchange *exchange);
/** Fields after the request's body, before its end is read. @param lines  with their line ends, copied. @return 0, MK_E_LIMIT, MK_E_NOMEM. */
MK_API int mk_exchange_set_trailers(struct mk_exchange *exchange, struct mk_str lines) MK_MUST_USE;
/** The client does not want the answer any more, or its connection is gone. */
MK_API void mk_exchange_break(struct mk_exchange *exchange);

/* ---- streams that handlers took ---- */

/**
 * Take bytes for the client. What waits for it is bounded: the handler's writes end when 64 KB do.
 * @param is_last  out: the handler sends no more; it may still read
 * @return bytes; 0; MK_E_AGAIN: nothing now, ready will be called; MK_E_PEER: the handler broke it off (mk_stream_abort), and all that it had
 *         written was pulled.
 */
MK_API ssize_t mk_tunnel_pull(struct mk_tunnel *tunnel, char *dst, size_t len,
                              bool *is_last) MK_MUST_USE;
/**
 * Tell the handler, after the present event.
 * @param events  MK_IO_READ: bytes have come; MK_IO_READ | MK_IO_HANGUP: the client sends no more; MK_IO_HANGUP: the server
 *                stops
 */
MK_API void mk_tunnel_tell(struct mk_tunnel *tunnel, unsigned events);
/** The stream has ended, or its connection has. A handler that has not closed its side gets MK_IO_ERROR. */
MK_API void mk_tunnel_break(struct mk_tunnel *tunnel);

#ifdef __cplusplus
}
#endif

#endif
