/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_UPSTREAM_H
#define MONKEY_UPSTREAM_H

/*
 * What everything that talks to backends shares: names, connections that are kept, and the reading
 * of responses.
 */

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
 * failures for 5. Numbers and "unix:/path" are answered at once, inside this call.
 * @param host  name, IPv4 or IPv6 address, or "unix:/path"
 * @return 0: fn was or will be called exactly once, on this worker; MK_E_BUSY, MK_E_NOMEM: it will not.
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
    unsigned connect_ms, idle_ms, queue_ms; /* times; 0: none */
    unsigned max_uses;                      /* requests over one connection; 0: no bound */
};

/** A backend of a server, shared by its workers. @return it, owned; NULL without memory. Control thread. */
MK_API struct mk_upstream *mk_upstream_new(struct mk_server *server,
                                           const struct mk_upstream_options *options) MK_MUST_USE;
/** Idle connections close; those in use when they are given back. Any thread. NULL is allowed. */
MK_API void mk_upstream_free(struct mk_upstream *u);

/**
 * @param s      connected, the receiver's until mk_upstream_give; NULL: error
 * @param fresh  just connected: it cannot have been closed by the backend while it was idle
 * @param error  MK_E_TIMEOUT (queue or connect), MK_E_PEER (refused), MK_E_NOENT (name), MK_E_NOMEM, MK_E_NOFD
 */
typedef void (*mk_upstream_fn)(void *arg, struct mk_stream *s, bool fresh, int error);

/**
 * A connection to the backend: the idle one used last, or a new one, or the next that becomes free. When
 * all are taken and some worker keeps an idle one, that is given up for this one.
 * @param fresh  only a new one will do (a retry after an idle one failed)
 * @param wait   to cancel with, until fn is called; fn is never called inside this call
 * @return 0; MK_E_BUSY: max_waiting; MK_E_NOMEM.
 */
MK_API int mk_upstream_take(struct mk_upstream *u, struct mk_worker *w, bool fresh,
                            mk_upstream_fn fn, void *arg,
                            struct mk_upstream_wait **wait) MK_MUST_USE;
MK_API void mk_upstream_cancel(struct mk_upstream_wait *wait);
/** Give a connection back. @param reusable  nothing is unread and it may stay open; otherwise it is closed */
MK_API void mk_upstream_give(struct mk_upstream *u, struct mk_stream *s, bool reusable);
/** Connections open and waiting requests, over all workers. Any thread. */
MK_API void mk_upstream_load(const struct mk_upstream *u, unsigned *open, unsigned *idle,
                             unsigned *waiting);

/* ---- responses ---- */

enum mk_response_kind {
    MK_RESPONSE_HTTP, /* begins with a status line (RFC 9112 section 4) */
    MK_RESPONSE_CGI,  /* begins with fields; Status gives the status (RFC 3875 section 6) */
};

/** The head of a backend's response. Offsets, so that the buffer may move while it arrives. */
struct mk_response_head {
    /* where the parser stands; zeroed by the caller before the first call */
    uint32_t scanned, nfields;
    /* results */
    unsigned status;
    unsigned minor;         /* HTTP/1.minor */
    int64_t content_length; /* -1: not said */
    bool chunked;           /* and nothing else is in Transfer-Encoding */
    bool keep_alive;        /* by version and Connection */
    bool upgrade;           /* 101 with Connection: upgrade */
    uint32_t reason_off, reason_len;
    uint32_t fields_off, fields_len; /* all field lines with their line ends */
    const char *why;                 /* after MK_E_BAD: a sentence */
    uintptr_t reserved[4];
};

/**
 * Parse, or go on parsing. Bare LF ends a line in CGI responses (RFC 3875 section 6.3.4), never in HTTP
 * ones. Content-Length with Transfer-Encoding, several that differ, control bytes, NUL, folded lines and
 * blanks before a colon are refused: what one reads another way than the next is how responses are
 * smuggled.
 * @param buf  the head from its first byte on; earlier bytes unchanged since the call before
 * @return > 0: its length, empty line included; MK_E_AGAIN: feed more; MK_E_BAD; MK_E_LIMIT: longer
 *         than max bytes or 200 fields.
 * Allocates nothing; linear in the bytes over all calls. Any thread.
 */
MK_API ssize_t mk_response_parse(struct mk_response_head *h, enum mk_response_kind kind,
                                 const char *buf, size_t len, size_t max) MK_MUST_USE;
/** Walk its fields. @param at  0 at first. @return false after the last. */
MK_API bool mk_response_next(const struct mk_response_head *h, const char *buf, uint32_t *at,
                             struct mk_str *name, struct mk_str *value);
/** The first field of a name, in any case; {NULL, 0} when absent. */
MK_API struct mk_str mk_response_find(const struct mk_response_head *h, const char *buf,
                                      struct mk_str name);

/** How a body ends. */
struct mk_body {
    uint64_t left;  /* until the known end; of the present chunk */
    uint64_t total; /* body bytes given so far */
    uint8_t kind, state;
    uintptr_t reserved[6];
};

/**
 * A decoder for the body of a response, by RFC 9112 section 6.3.
 * @param request_was_head  the answer to HEAD has no body
 */
MK_API void mk_body_init(struct mk_body *b, const struct mk_response_head *h,
                         bool request_was_head);
/**
 * Take the framing out of bytes just received, in place.
 * @param len   in: bytes received; out: body bytes now at the front of buf
 * @param used  out: bytes of buf consumed; what follows belongs to the next message
 * @return 1: the body is complete; MK_E_AGAIN: feed more; MK_E_BAD; MK_E_LIMIT: framing out of proportion.
 */
MK_API int mk_body_decode(struct mk_body *b, char *buf, size_t *len, size_t *used) MK_MUST_USE;
/** The connection ended. @return 0: so did the body; MK_E_PEER: it was cut off. */
MK_API int mk_body_end(const struct mk_body *b) MK_MUST_USE;

/* ---- a body that is kept, so that it can be sent again ---- */

struct mk_spool;

/**
 * @param memory  bytes kept in memory; the rest goes to an unlinked temporary file
 * @param max     bytes in all
 * @param dir     for the file
 * @return it, owned; NULL without memory.
 */
MK_API struct mk_spool *mk_spool_new(size_t memory, uint64_t max, const char *dir) MK_MUST_USE;
/** @return 0, MK_E_LIMIT, MK_E_NOMEM, MK_E_SYS: no room on the disk. */
MK_API int mk_spool_write(struct mk_spool *s, const char *bytes, size_t len) MK_MUST_USE;
/** @return bytes read from offset at; 0: nothing there (yet); MK_E_SYS. */
MK_API ssize_t mk_spool_read(const struct mk_spool *s, uint64_t at, char *dst,
                             size_t len) MK_MUST_USE;
MK_API uint64_t mk_spool_size(const struct mk_spool *s);
MK_API void mk_spool_free(struct mk_spool *s);

#ifdef __cplusplus
}
#endif

#endif
