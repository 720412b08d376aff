/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_UPSTREAM_H
#define MONKEY_UPSTREAM_H

/*
 * Common parts of plugins that talk to backends: look-up of names, kept connections, bodies that can be
 * sent again, and parsing of responses (response.h). In libmonkey-upstream: pkg-config --libs monkey-upstream.
 */

#include <monkey/response.h>
#include <monkey/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- names ---- */

struct mk_address {
    socklen_t len;
    struct sockaddr_storage addr;
};

/**
 * @param addresses  of the name, at most 16, with the port; borrowed for the call
 * @param count      > 0; or MK_E_NOENT: no such name, MK_E_AGAIN: cannot be known now, MK_E_NOMEM
 */
typedef void (*mk_resolve_fn)(void *arg, const struct mk_address *addresses, int count);

/**
 * Look a name up without blocking the worker. All workers share answers for 30 seconds and
 * failures for 5. Numbers, "unix:/path" and names with a kept answer are answered inside this
 * call. At most 128 names are kept, and at most 1024 calls wait.
 * @param host  name, IPv4 or IPv6 address, or "unix:/path"
 * @return 0: fn was or will be called exactly once, on this worker (after the worker has ended, by the
 *         thread that frees the server). Otherwise it is not called: MK_E_BUSY: too many calls wait; MK_E_NOMEM.
 */
MK_API int mk_resolve(struct mk_worker *w, const char *host, unsigned port, mk_resolve_fn fn,
                      void *arg) MK_MUST_USE;

/* ---- kept connections ---- */

struct mk_upstream;
struct mk_upstream_wait;

struct mk_upstream_options {
    size_t size;      /* sizeof(struct mk_upstream_options) */
    const char *host; /* as for mk_resolve; copied */
    unsigned port;
    const char *transport, *name; /* as in struct mk_dial; copied */
    unsigned max_connections;     /* over all workers; 0: no bound */
    unsigned max_idle;            /* kept a worker; 0: none */
    unsigned max_waiting;         /* requests that wait for one of them; above: MK_E_BUSY */
    unsigned connect_ms, idle_ms, queue_ms; /* time-outs, the first with the look-up; 0: none */
    unsigned max_uses;                      /* requests over one connection; 0: no bound */
    const char *protocol;                   /* as in struct mk_dial; copied */
};

/**
 * Make a backend of a server, shared by its workers. It belongs to no configuration: a reload adopts it by
 * keeping the pointer.
 * @return the backend, owned by the caller; NULL: no memory. Any thread, while the server lives.
 */
MK_API struct mk_upstream *mk_upstream_new(struct mk_server *server,
                                           const struct mk_upstream_options *options) MK_MUST_USE;
/**
 * Free a backend. Its idle connections are closed now, those in use when they are given back; waiters are still served.
 * Any thread, before the server is freed or from a plugin's stop. NULL is allowed.
 */
MK_API void mk_upstream_free(struct mk_upstream *u);

/**
 * @param s      connected, owned by the receiver until mk_upstream_give: call mk_stream_tell at once. The first event
 *               is MK_IO_READ | MK_IO_WRITE and follows soon. NULL: error
 * @param fresh  just connected, so the backend cannot have closed it while it was idle
 * @param error  MK_E_BUSY (no connection became free in queue_ms), MK_E_TIMEOUT (connect), MK_E_PEER (refused), errors of
 *               mk_resolve and mk_stream_dial, MK_E_NOMEM
 */
typedef void (*mk_upstream_fn)(void *arg, struct mk_stream *s, bool fresh, int error);

/**
 * Take a connection to the backend: the idle one used last, a new one, or the next one that becomes free. If
 * all are in use or idle on other workers, an idle one of another worker is closed to make room. Waiters are served
 * first-in, first-out across all workers.
 * @param fresh  require a new connection (for a retry after an idle one failed)
 * @param wait   out: for mk_upstream_cancel, until fn is called. fn is never called inside this call
 * @return 0; MK_E_BUSY: max_waiting requests wait already; MK_E_NOMEM. On the worker's thread, as all functions below.
 */
MK_API int mk_upstream_take(struct mk_upstream *u, struct mk_worker *w, bool fresh,
                            mk_upstream_fn fn, void *arg,
                            struct mk_upstream_wait **wait) MK_MUST_USE;

/**
 * Write the reason for which a take has just failed, for logs: "/run/php.sock: Permission denied", or
 * "10.0.0.1:443: the backend does not speak h2 (ALPN)". Inside the receiver's call, with its error.
 */
MK_API void mk_upstream_why(struct mk_upstream *u, const struct mk_worker *w, int error, char *text,
                            size_t size);

/** Cancel a take: fn is not called. */
MK_API void mk_upstream_cancel(struct mk_upstream_wait *wait);
/**
 * Give a connection back, also a broken one, which nothing else closes. Also allowed inside its own events; no events
 * follow.
 * @param reusable  the answer was read to its end and the connection may stay open. It is closed otherwise, and when
 *                  bytes are unread or the backend has closed it
 */
MK_API void mk_upstream_give(struct mk_upstream *u, struct mk_stream *s, bool reusable);
/**
 * Check that an idle connection is unchanged, by a look at the socket. Call this before the first write over a connection
 * that is not fresh: input since the last turn of the loop has caused no event yet.
 * @return false: the backend has closed it, or has sent unasked bytes that would be taken for the next answer (as for
 *         mk_upstream_distrust). Give it back and take a fresh one.
 */
MK_API bool mk_upstream_is_quiet(struct mk_upstream *u, struct mk_stream *s) MK_MUST_USE;
/** Keep no connection of this backend from now on, because it sends unasked bytes. Any thread. */
MK_API void mk_upstream_distrust(struct mk_upstream *u);
/** @return false: mk_upstream_distrust was called, or the backend has sent bytes over an idle connection. Any thread. */
MK_API bool mk_upstream_is_trusted(const struct mk_upstream *u) MK_MUST_USE;
/** Count connections, including dialled and idle ones; idle ones; and waiting requests, over all workers. Any thread. */
MK_API void mk_upstream_load(struct mk_upstream *u, unsigned *open, unsigned *idle,
                             unsigned *waiting);

/* ---- a kept body, which can be sent again ---- */

struct mk_spool;

/**
 * @param memory  number of first bytes that are kept in memory; the rest goes to an unlinked temporary file
 * @param max     bytes in all
 * @param dir     for the file; copied
 * @return the spool, owned by the caller; NULL: no memory.
 */
MK_API struct mk_spool *mk_spool_new(size_t memory, uint64_t max, const char *dir) MK_MUST_USE;
/**
 * Add bytes, all or none. Blocks no longer than a write to the page cache.
 * @return 0; MK_E_LIMIT: above max; MK_E_NOMEM; for the file: MK_E_NOFD, MK_E_NOENT and MK_E_ACCESS (dir),
 *         MK_E_SYS with errno, mostly because the disk is full.
 */
MK_API int mk_spool_write(struct mk_spool *s, const char *bytes, size_t len) MK_MUST_USE;
/** @return bytes read from offset at, fewer than len only at the end; 0: nothing there (yet); MK_E_SYS. */
MK_API ssize_t mk_spool_read(const struct mk_spool *s, uint64_t at, char *dst,
                             size_t len) MK_MUST_USE;
MK_API uint64_t mk_spool_size(const struct mk_spool *s);
/** NULL is allowed. */
MK_API void mk_spool_free(struct mk_spool *s);

#ifdef __cplusplus
}
#endif

#endif
