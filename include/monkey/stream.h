/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_STREAM_H
#define MONKEY_STREAM_H

/*
 * Byte streams with events, over any transport: a client's connection that a handler took over (for
 * Upgrade), a request's stream in a connection of HTTP/2, or a connection to a backend. A tunnel consists of two streams.
 *
 * A stream belongs to a worker; call all functions on its thread. They never block.
 */

#include <monkey/events.h>

#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_stream;

/**
 * @param events  MK_IO_READ, MK_IO_WRITE, MK_IO_HANGUP (the peer sends no more; bytes that it has sent can
 *                still be read), MK_IO_ERROR, MK_IO_TIMEOUT. Edge-triggered: read and
 *                write until MK_E_AGAIN. The callback may close the stream.
 *
 * MK_IO_ERROR is the last event: the stream is broken, and reads and writes return MK_E_PEER from
 * now on. Close it, at once or later. Bytes that arrived before a reset can be read in the event before. A dialled stream
 * keeps them for longer; then a read returns MK_E_PEER behind the last one, and MK_IO_ERROR may not come. A worker that ends
 * reports MK_IO_ERROR to all its streams.
 */
typedef void (*mk_stream_fn)(struct mk_stream *s, unsigned events, void *arg);

/**
 * Take over the connection of a request, or its stream of a connection that carries many (HTTP/2, RFC 8441), after
 * mk_reply_end of 101, or of 2xx for CONNECT (RFC 9110 sections 7.8, 9.3.6). The hook returns MK_VERDICT_DONE; then the request ends, its head is sent, and
 * events begin. The plugin itself must hold its objects of the request's configuration.
 * @param fn  called with MK_IO_READ | MK_IO_WRITE first
 * @return 0, MK_E_NOMEM, MK_E_INVALID: the answer is another one, or the request's body was not read to its end;
 *         MK_E_UNSUPPORTED: the request came from memory, without a connection (<monkey/ask.h>).
 * Do not read or write before the first event. A connection that breaks earlier reports MK_IO_ERROR
 * alone. When the server stops, a taken stream gets MK_IO_HANGUP, and MK_IO_ERROR when the grace time expires.
 */
MK_API int mk_request_take(struct mk_request *r, struct mk_stream **stream, mk_stream_fn fn,
                           void *arg) MK_MUST_USE;

/** What went through a stream that a handler took. */
struct mk_taken {
    size_t size;       /* of the server's struct, set by it */
    uint64_t received; /* bytes that the stream's owner read */
    uint64_t sent;     /* bytes that it wrote and the connection took, without framing of HTTP/2 */
    bool whole; /* its owner closed it, and it was not broken; false: that, or mk_stream_abort */
};
typedef void (*mk_taken_fn)(void *arg, const struct mk_taken *taken);

/**
 * Be told of the end of a stream that a handler took. For on_finish, which comes before that: what is needed of the request
 * then, the caller keeps.
 * @param fn  called once, on the request's worker, with taken borrowed for the call. Reloads may come before it, and with them
 *            worker_stop; the end of the server does not. It must not use streams.
 * @return 0; MK_E_NOENT: no handler took one, or it has ended already; MK_E_NOMEM.
 */
MK_API int mk_request_on_taken_end(const struct mk_request *r, mk_taken_fn fn,
                                   void *arg) MK_MUST_USE;

struct mk_dial {
    size_t size; /* sizeof(struct mk_dial) */
    const struct sockaddr *addr;
    socklen_t addr_len;
    const char *transport; /* by name; NULL: plain */
    const char *name;      /* of the server, for the transport; NULL: none */
    unsigned timeout_ms;   /* until the end of the handshake; 0: the system's, some minutes */
    /* ALPN name (RFC 7301) that the backend must agree to; copied. Plain transports ignore it. NULL: http/1.1 is offered, and
     * the backend may agree to nothing */
    const char *protocol;
};

/**
 * Connect without blocking. In libmonkey-upstream: pkg-config --libs monkey-upstream.
 * @param fn  called with MK_IO_READ | MK_IO_WRITE when the stream is connected; with MK_IO_ERROR or MK_IO_TIMEOUT, as
 *            the last event, when the connection failed; never before this call has returned
 * @return 0, MK_E_NOMEM, MK_E_NOFD, MK_E_UNSUPPORTED: no such transport; MK_E_INVALID: the protocol's name has 0 bytes, or more
 *         than 255; MK_E_BUSY: the queue of a unix socket is full, or no port is free; MK_E_PEER: refused at once, with the
 *         reason in errno.
 */
MK_API int mk_stream_dial(struct mk_stream **stream, struct mk_worker *w,
                          const struct mk_dial *dial, mk_stream_fn fn, void *arg) MK_MUST_USE;

enum { MK_STREAM_ADDRESS = 128 };
/**
 * Write where a stream leads to, as its peer's address: "192.0.2.1:80", "[2001:db8::1]:80", "unix:/path". One system call. In
 * libmonkey-upstream.
 * @return bytes, without the terminator; 0: the peer has gone, or its unix socket has no name
 */
MK_API size_t mk_stream_address(const struct mk_stream *s, char dst[MK_STREAM_ADDRESS]);

/** @return > 0: bytes; 0: end of input; MK_E_AGAIN; MK_E_PEER. */
MK_API ssize_t mk_stream_read(struct mk_stream *s, void *buf, size_t len) MK_MUST_USE;
/** @return bytes taken, perhaps fewer than given; MK_E_AGAIN: call again with the same bytes first; MK_E_PEER. */
MK_API ssize_t mk_stream_write(struct mk_stream *s, const struct iovec *iov, int niov) MK_MUST_USE;
/** End the sending half: the peer sees the end of input. */
MK_API void mk_stream_shutdown(struct mk_stream *s);
/** @return the descriptor, for splice; -1: the transport does not allow its use, or holds bytes that were already read. */
MK_API int mk_stream_fd(const struct mk_stream *s);
/** Replace the callback. */
MK_API void mk_stream_tell(struct mk_stream *s, mk_stream_fn fn, void *arg);
/** Report MK_IO_TIMEOUT once after ms milliseconds, exact to 100 ms; 0 cancels. Replaces an earlier time-out, also that of a dial. */
MK_API void mk_stream_timeout(struct mk_stream *s, unsigned ms);
/** Call fn(s, MK_IO_READ | MK_IO_WRITE) after the current event, for a callback that stopped before MK_E_AGAIN. */
MK_API void mk_stream_run_soon(struct mk_stream *s);
/**
 * @return errno of a failed connect, ETIMEDOUT after its time-out, EPROTO after a failed handshake, to which belongs that the
 *         backend does not agree to mk_dial.protocol; 0: none.
 */
MK_API int mk_stream_error(const struct mk_stream *s);
/**
 * Report how many bytes of memory are kept for a client's stream that was taken (mk_request_take), over HTTP/1 or HTTP/2. The
 * number replaces the last one, and counts against MaxMemory until the stream is closed. When memory is used up, the server
 * ends those that have held much for long; their streams get MK_IO_ERROR. For other streams this does nothing. NULL is allowed.
 */
MK_API void mk_stream_hold(struct mk_stream *s, size_t bytes);
/** Close. fn is not called again. NULL is allowed. */
MK_API void mk_stream_close(struct mk_stream *s);
/**
 * Close a stream whose owner has not all that its peer was to get, as when the other side of a tunnel broke. In a connection of
 * HTTP/2, what was written is sent, and then RST_STREAM with CONNECT_ERROR (RFC 9113 sections 7 and 8.5). Other streams are
 * closed as by mk_stream_close.
 */
MK_API void mk_stream_abort(struct mk_stream *s);

#ifdef __cplusplus
}
#endif

#endif
