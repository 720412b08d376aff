/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_UPSTREAM_H
#define MONKEY_UPSTREAM_H

/*
 * What everything that talks to backends shares: names, connections that are kept, bodies that can be
 * sent again, and the reading of responses (response.h). In libmonkey-upstream: pkg-config --libs monkey-upstream.
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
 * Look a name up without blocking the worker; answers are shared by all workers for 30 seconds,
 * failures for 5. What is known is answered at once, inside this call: numbers, "unix:/path", and
 * names while their answer is kept. At most 128 names are kept and 1024 calls wait.
 * @param host  name, IPv4 or IPv6 address, or "unix:/path"
 * @return 0: fn was or will be called exactly once, on this worker (when the worker has ended, by the
 *         thread that frees the server); MK_E_BUSY: too much is under way; MK_E_NOMEM: it will not.
 */
MK_API int mk_resolve(struct mk_worker *w, const char *host, unsigned port, mk_resolve_fn fn,
                      void *arg) MK_MUST_USE;

/* ---- connections that are kept ---- */

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
    unsigned connect_ms, idle_ms, queue_ms; /* times, the first with the look-up; 0: none */
    unsigned max_uses;                      /* requests over one connection; 0: no bound */
};

/**
 * A backend of a server, shared by its workers. It is free of any configuration: a reload adopts it by
 * keeping the pointer.
 * @return it, owned; NULL without memory. Control thread.
 */
MK_API struct mk_upstream *mk_upstream_new(struct mk_server *server,
                                           const struct mk_upstream_options *options) MK_MUST_USE;
/**
 * Idle connections close now, those in use when they are given back; who still waits is served. Any
 * thread, before the server is freed or from a plugin's stop. NULL is allowed.
 */
MK_API void mk_upstream_free(struct mk_upstream *u);

/**
 * @param s      connected, the receiver's until mk_upstream_give: use mk_stream_tell at once. Its first event
 *               is MK_IO_READ | MK_IO_WRITE and comes soon. NULL: error
 * @param fresh  just connected: it cannot have been closed by the backend while it was idle
 * @param error  MK_E_BUSY (none became free in queue_ms), MK_E_TIMEOUT (connect), MK_E_PEER (refused), what mk_resolve
 *               and mk_stream_dial give, MK_E_NOMEM
 */
typedef void (*mk_upstream_fn)(void *arg, struct mk_stream *s, bool fresh, int error);

/**
 * A connection to the backend: the idle one used last, or a new one, or the next that becomes free. When
 * all are taken and some worker keeps an idle one, that is given up for this one. Who has waited longest
 * comes first, on whichever worker.
 * @param fresh  only a new one will do (a retry after an idle one failed)
 * @param wait   to cancel with, until fn is called; fn is never called inside this call
 * @return 0; MK_E_BUSY: max_waiting wait already; MK_E_NOMEM. On the worker's thread, as all below.
 */
MK_API int mk_upstream_take(struct mk_upstream *u, struct mk_worker *w, bool fresh,
                            mk_upstream_fn fn, void *arg,
                            struct mk_upstream_wait **wait) MK_MUST_USE;

/**
 * Why a take has just failed, for logs: "/run/php.sock: Permission denied". Inside the receiver's call, with the error that
 * it got.
 */
MK_API void mk_upstream_why(struct mk_upstream *u, const struct mk_worker *w, int error, char *text,
                            size_t size);

/** fn is not called any more. */
MK_API void mk_upstream_cancel(struct mk_upstream_wait *wait);
/**
 * Give a connection back, broken ones too: nobody else closes them. Inside its own events too; nobody is told
 * of any more.
 * @param reusable  the answer was read to its end and the connection may stay open; otherwise it is closed.
 *                  So it is when something is unread, or the backend has closed.
 */
MK_API void mk_upstream_give(struct mk_upstream *u, struct mk_stream *s, bool reusable);
/**
 * Is a connection as it was left? Ask before the first write over one that is not fresh: what came since the last turn has
 * had no event yet. It looks at the socket itself.
 * @return false: the backend has closed it, or sent what nobody asked for and would be taken for the next answer (as for
 *         mk_upstream_distrust). Give it back and take a fresh one.
 */
MK_API bool mk_upstream_is_quiet(struct mk_upstream *u, struct mk_stream *s) MK_MUST_USE;
/** The backend sends more than was asked for: none of its connections is kept from now on. Any thread. */
MK_API void mk_upstream_distrust(struct mk_upstream *u);
/** Any thread. @return false behind mk_upstream_distrust, which what the backend sent to an idle connection is, too. */
MK_API bool mk_upstream_is_trusted(const struct mk_upstream *u) MK_MUST_USE;
/** Connections, those being dialled and idle ones included; idle ones; and waiting requests: over all workers. Any thread. */
MK_API void mk_upstream_load(struct mk_upstream *u, unsigned *open, unsigned *idle,
                             unsigned *waiting);

/* ---- a body that is kept, so that it can be sent again ---- */

struct mk_spool;

/**
 * @param memory  bytes kept in memory: the first ones; the rest goes to an unlinked temporary file
 * @param max     bytes in all
 * @param dir     for the file; copied
 * @return it, owned; NULL without memory.
 */
MK_API struct mk_spool *mk_spool_new(size_t memory, uint64_t max, const char *dir) MK_MUST_USE;
/**
 * Add bytes, all or none. Blocks no longer than a write into the page cache.
 * @return 0; MK_E_LIMIT: above max; MK_E_NOMEM; of the file: MK_E_NOFD, MK_E_NOENT and MK_E_ACCESS (dir),
 *         MK_E_SYS: errno tells why, mostly no room on the disk.
 */
MK_API int mk_spool_write(struct mk_spool *s, const char *bytes, size_t len) MK_MUST_USE;
/** @return bytes read from offset at, len unless it ends there; 0: nothing there (yet); MK_E_SYS. */
MK_API ssize_t mk_spool_read(const struct mk_spool *s, uint64_t at, char *dst,
                             size_t len) MK_MUST_USE;
MK_API uint64_t mk_spool_size(const struct mk_spool *s);
/** NULL is allowed. */
MK_API void mk_spool_free(struct mk_spool *s);

#ifdef __cplusplus
}
#endif

#endif
