/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_STREAM_H
#define MONKEY_STREAM_H

/*
 * Byte streams with events, over any transport: a client's connection that a handler took over (for
 * Upgrade), or a connection to a backend. A tunnel is two of them.
 *
 * A stream belongs to a worker; everything is called on its thread. Nothing blocks.
 */

#include <monkey/events.h>

#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_stream;

/**
 * @param events  MK_IO_READ, MK_IO_WRITE, MK_IO_HANGUP (the peer sends no more; what it sent can
 *                still be read), MK_IO_ERROR, MK_IO_TIMEOUT. Told once for each change: read and
 *                write until MK_E_AGAIN. The stream may be closed inside.
 *
 * MK_IO_ERROR is the last event: the stream is broken, and reading and writing it give MK_E_PEER from
 * then on. It is still to be closed, at once or later. Bytes that came before a reset can be read in
 * the event before. A worker that ends tells all its streams so.
 */
typedef void (*mk_stream_fn)(struct mk_stream *s, unsigned events, void *arg);

/**
 * Take over the connection of a request, after mk_reply_end of 101, or of 2xx for CONNECT (RFC 9110
 * sections 7.8, 9.3.6). The hook returns MK_VERDICT_DONE; then the request ends, its head leaves, and
 * events begin. The plugin's objects of the request's configuration must be held by the plugin itself.
 * @param fn  called with MK_IO_READ | MK_IO_WRITE first
 * @return 0, MK_E_NOMEM, MK_E_INVALID: not now - no such answer, or the request's body was not read to its end.
 * Before the first event nothing can be read or written. A connection that breaks sooner gives MK_IO_ERROR
 * alone. When the server stops, a stream that was taken gets MK_IO_HANGUP, and when the grace is over MK_IO_ERROR.
 */
MK_API int mk_request_take(struct mk_request *r, struct mk_stream **stream, mk_stream_fn fn,
                           void *arg) MK_MUST_USE;

struct mk_dial {
    size_t size; /* sizeof(struct mk_dial) */
    const struct sockaddr *addr;
    socklen_t addr_len;
    const char *transport; /* by name; NULL: plain */
    const char *name;      /* of the server, for the transport; NULL: none */
    unsigned timeout_ms;   /* until the handshake is over; 0: as the system likes, minutes */
};

/**
 * Connect without blocking. In libmonkey-upstream: pkg-config --libs monkey-upstream.
 * @param fn  called with MK_IO_READ | MK_IO_WRITE when it is connected, MK_IO_ERROR or MK_IO_TIMEOUT when it is
 *            not, which is the last event then; never before this call has returned
 * @return 0, MK_E_NOMEM, MK_E_NOFD, MK_E_UNSUPPORTED: no such transport; MK_E_BUSY: the queue of a unix socket
 *         is full, or no port is free; MK_E_PEER: refused at once, errno tells why.
 */
MK_API int mk_stream_dial(struct mk_stream **stream, struct mk_worker *w,
                          const struct mk_dial *dial, mk_stream_fn fn, void *arg) MK_MUST_USE;

/** @return > 0, 0 at the end of input, MK_E_AGAIN, MK_E_PEER. */
MK_API ssize_t mk_stream_read(struct mk_stream *s, void *buf, size_t len) MK_MUST_USE;
/** @return bytes taken, perhaps fewer than given; MK_E_AGAIN: come again with the same bytes first; MK_E_PEER. */
MK_API ssize_t mk_stream_write(struct mk_stream *s, const struct iovec *iov, int niov) MK_MUST_USE;
/** The peer will see the end of input. */
MK_API void mk_stream_shutdown(struct mk_stream *s);
/** The descriptor, where the transport allows its use (splice); -1 otherwise, or while bytes that were read wait inside. */
MK_API int mk_stream_fd(const struct mk_stream *s);
/** Somebody else is told from now on. */
MK_API void mk_stream_tell(struct mk_stream *s, mk_stream_fn fn, void *arg);
/** MK_IO_TIMEOUT once, so many ms from now, exact to 100 ms; 0: not any more. Replaces an earlier one, that of a dial too. */
MK_API void mk_stream_timeout(struct mk_stream *s, unsigned ms);
/** fn(s, MK_IO_READ | MK_IO_WRITE) after the present event: for whoever stopped before MK_E_AGAIN. */
MK_API void mk_stream_run_soon(struct mk_stream *s);
/** errno of a failed connect, ETIMEDOUT after its timeout, EPROTO when the handshake failed; 0: none. */
MK_API int mk_stream_error(const struct mk_stream *s);
/** Close. fn is not called again. NULL is allowed. */
MK_API void mk_stream_close(struct mk_stream *s);

#ifdef __cplusplus
}
#endif

#endif
