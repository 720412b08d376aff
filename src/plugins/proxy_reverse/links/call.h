/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_CALL_H
#define PROXY_CALL_H

#include <monkey/upstream.h>

#include <stdbool.h>

/*
 * Requests to backends that speak HTTP/2: a call is one stream of a connection that carries many. Its owner writes a head as
 * HTTP/1 has it and the bytes of a body without chunks, and reads an answer in the same form, so that both protocols pass
 * the same writer of heads and the same judge of answers. Connections belong to a worker; they are made as they are needed,
 * and closed when they were idle for a while.
 *
 * A head with Upgrade asks for a tunnel: an extended CONNECT (RFC 8441), whose answer is 101 where the backend's is 2xx. Bytes
 * are read and written after it until both sides have ended.
 */

/** At a time, as far as the backend lets us. */
enum { PROXY_CALLS_A_CONNECTION = 100 };

struct proxy_call;
struct proxy_calls; /* the connections of a worker, to all backends */

/** How calls to a backend go. */
struct proxy_call_way {
    struct mk_upstream *upstream;
    bool is_secure; /* :scheme is https */
    unsigned
        max_waiting; /* calls of a worker beside the one that makes a connection; above: MK_E_BUSY */
    unsigned idle_ms; /* 0: a minute */
};

/** @return NULL: no memory. */
struct proxy_calls *proxy_calls_new(struct mk_worker *w) MK_MUST_USE;
/** No call begins any more. Those that go on, which are tunnels, keep their connections, and are the last to free it. NULL is allowed. */
void proxy_calls_free(struct proxy_calls *calls);

/** A call may begin. @param fresh  nothing was sent over its connection before. @param error  it may not, and is gone: as mk_upstream_fn */
typedef void (*proxy_called_fn)(void *arg, bool fresh, int error);

/**
 * Begin a call.
 * @param fresh  over a connection that is made for it, unless the backend has all that it may have: called says which
 * @param call   out: the caller's until proxy_call_put, or an error. called is not called inside this function
 * @return 0; MK_E_BUSY, MK_E_NOMEM: as of mk_upstream_take
 */
int proxy_call_begin(struct proxy_call **call, struct proxy_calls *calls,
                     const struct proxy_call_way *way, bool fresh, proxy_called_fn called,
                     void *arg) MK_MUST_USE;
/** It is not needed any more: what goes on of it is cancelled. */
void proxy_call_put(struct proxy_call *c);

/** From now on events go there, with no stream: MK_IO_READ, MK_IO_WRITE, MK_IO_ERROR, MK_IO_TIMEOUT. The first one follows soon. */
void proxy_call_tell(struct proxy_call *c, mk_stream_fn fn, void *arg);
/** As mk_stream_read: an answer as HTTP/1 has it, whose body has no framing but its end. */
ssize_t proxy_call_read(struct proxy_call *c, char *dst, size_t len) MK_MUST_USE;
/**
 * As mk_stream_write. The first part begins with a whole head; Transfer-Encoding and Upgrade say that a body ends by
 * proxy_call_end_body.
 * @return also MK_E_INVALID: it is no head, or asks for WebSocket without its key (RFC 6455 section 4.2.1); MK_E_UNSUPPORTED: it
 *         asks for a tunnel, and the backend's settings do not offer them (RFC 8441 section 3). MK_E_AGAIN as long as these
 *         settings are awaited. The call has no stream then.
 */
ssize_t proxy_call_write(struct proxy_call *c, const struct iovec *iov, int niov) MK_MUST_USE;
/** A body without a length ends. @param trailers  field lines with their line ends, copied. @return 0 or MK_E_NOMEM, MK_E_PEER. */
int proxy_call_end_body(struct proxy_call *c, struct mk_str trailers) MK_MUST_USE;
/** Bytes of memory in which something waits for the backend, or for its reader. That they have left is an MK_IO_WRITE. */
size_t proxy_call_held(struct proxy_call *c);
/** Have both sides ended, or is it lost? */
bool proxy_call_is_over(const struct proxy_call *c);
/** Lines behind the body of its answer, whose end was read, with the empty line; none: len 0. Borrowed. */
struct mk_str proxy_call_trailers(const struct proxy_call *c);
/** As mk_stream_timeout. A call whose time expires makes its connection prove that it lives. */
void proxy_call_timeout(struct proxy_call *c, unsigned ms);
/** Tell MK_IO_READ | MK_IO_WRITE after the current event. */
void proxy_call_run_soon(struct proxy_call *c);
/** Its connection's; NULL: that has ended. */
const struct mk_stream *proxy_call_stream(const struct proxy_call *c);
/** Has its connection ended? A call may also fail alone, by RST_STREAM. */
bool proxy_call_is_lost(const struct proxy_call *c);
/** Did the backend say that it has not looked at it (RFC 9113 section 8.7)? */
bool proxy_call_was_refused(const struct proxy_call *c);

#endif
