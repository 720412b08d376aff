/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_REQUEST_H
#define MONKEY_REQUEST_H

/*
 * A request and its answer, as a plugin sees them.
 *
 * A request belongs to the worker of its connection: every call here is made on that worker's
 * thread, unless it says otherwise. Texts and memory of a request live until it ends. A struct
 * mk_request pointer is valid until the request ends, which a handler learns by mk_request_on_end;
 * whoever may be called later than that keeps a ticket instead.
 */

#include <monkey/types.h>

#include <stdbool.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_conn;
struct mk_link;
struct mk_request;
struct mk_server;
struct mk_worker;

/** What a hook in a stage says. Any other number is logged and answered with 500. */
enum mk_verdict {
    MK_VERDICT_PASS, /* go on: the next hook, the next handler, the file */
    MK_VERDICT_DONE, /* I answered, or the sources that I queued will; nobody else is asked */
    MK_VERDICT_LATER, /* the request waits: ask me again after mk_request_resume, or when more of its body came */
    MK_VERDICT_CLOSE, /* close the connection without an answer */
};

/* ---- what was asked ---- */

/** What is known of a request. Texts are borrowed until more of its body is read. */
struct mk_request_facts {
    size_t size; /* sizeof(struct mk_request_facts), set by the caller */
    struct mk_conn *conn;
    struct mk_worker *worker;
    struct mk_server *server;
    struct mk_str method; /* as sent; any token (RFC 9110 section 9.1) */
    struct mk_str target; /* as sent (RFC 9112 section 3.2) */
    struct mk_str
        path; /* decoded and normalised, terminated; of the file when an index or fallback file took its place */
    struct mk_str query;    /* behind `?`, as sent; p NULL without `?` */
    struct mk_str host;     /* authority of the target or the Host field; p NULL when absent */
    const char *scheme;     /* "http" or "https": is the transport encrypted? */
    unsigned minor;         /* HTTP/1.minor */
    int64_t content_length; /* of the request's body; -1: chunked; 0: none */
    int64_t began_ms;       /* monotonic time of its first byte, as mk_worker_now_ms */
    unsigned status;        /* of the answer; 0: none yet */
    uint64_t body_sent;     /* bytes of the answer's body so far, framing not counted */
    bool
        whole; /* the answer was given whole to the kernel or to its send buffer: true only in on_finish */
    const char *document_root; /* of the site; NULL: none */
    const char *site_name;     /* first ServerName of the site; "" when it has none */
    struct mk_str user;        /* mk_request_set_user; p NULL: nobody */
    const char *reason;        /* why it was refused or failed: a sentence; NULL: unknown */
    bool symlinks;             /* of the server, SymLink: are symbolic links followed? */
    struct mk_str
        request_line; /* as it was sent, of a request whose head was refused; p NULL for others */
};
MK_API void mk_request_facts(const struct mk_request *r, struct mk_request_facts *facts);

/**
 * A path as it may be read behind this server: number 0 is facts.path. Others follow where it has `;`, `\`, or dots or blanks
 * at the end of a segment, which some applications cut, take for `/` and leave out, and dot segments that come to light are
 * removed; not where the site says so (LenientPaths). A rule that keeps somebody out holds against each of them.
 * @param path  out: terminated, lives as the request does
 * @return 1; 0: there are no more; MK_E_NOMEM: there is one, which is not to be passed over.
 */
MK_API int mk_request_reading(struct mk_request *r, unsigned number,
                              struct mk_str *path) MK_MUST_USE;

/** Who sent it, as far as somebody found out: for logs and handlers. @return 0, or MK_E_NOMEM: nobody. @param user  copied */
MK_API int mk_request_set_user(struct mk_request *r, struct mk_str user) MK_MUST_USE;

/** The first field line of this name, in any case; {NULL, 0} when absent. */
MK_API struct mk_str mk_request_header(const struct mk_request *r, struct mk_str name);

/**
 * Walk all field lines in order of arrival.
 * @param at  in: 0 at first; out: for the next call
 * @return false after the last.
 */
MK_API bool mk_request_next_header(const struct mk_request *r, uint32_t *at, struct mk_str *name,
                                   struct mk_str *value);

/**
 * Read decoded bytes of the request body, as they arrive: what is not read stays in the kernel, so
 * that a fast sender waits (back-pressure). One turn of the loop gives about 1 MB; then it is MK_E_AGAIN, and the
 * next turn comes by itself.
 * @return > 0: bytes; 0: its end; MK_E_AGAIN: none yet - LATER, or the next call of a producer, will
 *         be when more came; MK_E_BAD: malformed framing; MK_E_LIMIT: larger than MaxBodySize, or too much behind
 *         a chunked one; MK_E_PEER: the client left, or the request has ended; MK_E_INVALID: len is 0.
 */
MK_API ssize_t mk_request_read(struct mk_request *r, char *dst, size_t len) MK_MUST_USE;

/** @return bytes of the body that came with the head and were not read, framing included; what the kernel has is not counted. */
MK_API size_t mk_request_buffered(const struct mk_request *r) MK_MUST_USE;

/**
 * So many bytes of memory a handler keeps for this request and its client, such as a body that it gathers: they count
 * against MaxMemory from the connection's next turn on. Replaces what it said before; the end of the request ends it.
 */
MK_API void mk_request_hold(struct mk_request *r, size_t bytes);

/**
 * Walk the fields behind a chunked body, in order of arrival. They are no fields of the head and never become any: use
 * only fields of which you know that they may stand there (RFC 9110 section 6.5). With the head they count against MaxRequestSize,
 * and they are 8 KB at most: mk_request_read tells of more by MK_E_LIMIT. Without memory there are none.
 * @param at  in: 0 at first; out: for the next call
 * @return false after the last, and before mk_request_read has given the end of the body.
 */
MK_API bool mk_request_next_trailer(const struct mk_request *r, uint32_t *at, struct mk_str *name,
                                    struct mk_str *value);

/** @return memory that lives until the request ends, aligned for any type, not zeroed; NULL without memory or above the request's limit (256 KB). */
MK_API void *mk_request_alloc(struct mk_request *r, size_t size) MK_MUST_USE;

/** @return formatted, terminated text that lives until the request ends; NULL without memory. */
MK_API char *mk_request_printf(struct mk_request *r, const char *fmt, ...) MK_MUST_USE
    MK_PRINTF(2, 3);

/**
 * Call fn(arg) once when the request has ended: answered, broken off, or its client left. The last
 * that was added is called first. No answer can be given any more.
 * @return 0 or MK_E_NOMEM: then it will not be called.
 */
MK_API int mk_request_on_end(struct mk_request *r, void (*fn)(void *arg), void *arg) MK_MUST_USE;

/**
 * Keep an object with the request: for whoever is asked again after LATER.
 * @param key     tells it from others' objects: an address of the caller's own, such as its mk_plugin
 * @param object  borrowed; takes the place of an earlier one of that key
 * @return 0 or MK_E_NOMEM.
 */
MK_API int mk_request_keep(struct mk_request *r, const void *key, void *object) MK_MUST_USE;
/** @return what was kept for the key; NULL: nothing. */
MK_API void *mk_request_kept(const struct mk_request *r, const void *key);

/**
 * Is a client that sends its end of input (FIN) one that left? On: the request is broken off then,
 * which is right for work that costs. Off (as every request begins): it may still be reading.
 */
MK_API void mk_request_ends_on_hangup(struct mk_request *r, bool on);

/** How long this request may wait for its handler without a byte of the answer, in place of HandlerTimeout; 0: for ever. Then it is logged and answered with 500, or cut off. */
MK_API void mk_request_timeout(struct mk_request *r, unsigned ms);

/** Why the request is about to be answered with an error, for the site's error log: one sentence, copied; NULL: no reason any more. */
MK_API void mk_request_reason(struct mk_request *r, const char *text);

/** A line in the error log, with the connection's number. Peer bytes are escaped by the caller; at most 20 such lines a second are written. */
MK_API void mk_request_log(const struct mk_request *r, enum mk_log_level level, const char *fmt,
                           ...) MK_PRINTF(3, 4);
/** Would mk_request_log write lines of this level now? For those that log each step of a request: asked once, at its start. */
MK_API bool mk_request_logs(const struct mk_request *r, enum mk_log_level level);

/**
 * In on_handle: does the pattern of the route by which it is called match another path too? For handlers that take a path
 * apart: where the pattern is for the name of a script, the name alone must match.
 */
MK_API bool mk_request_matches(const struct mk_request *r, struct mk_str path);

/** How far a path was compared with the pattern of a route; zeroed at first. */
struct mk_match {
    size_t len;
    unsigned state;
};

/**
 * The same about one beginning of a path after the other: all of them together are one pass over it.
 * @param path  begins with the path of the last call with m, and goes on
 */
MK_API bool mk_request_matches_on(const struct mk_request *r, struct mk_match *m,
                                  struct mk_str path);

/**
 * Answer with another path of this site, as if it had been asked for by GET (HEAD stays HEAD) without a body: after the
 * present event hooks of stage 20, handlers and files are asked again. Facts then speak of the other path, but for target.
 * A hook that calls this returns LATER; whoever answered LATER before is not asked again for the path before.
 * @param target  path and perhaps a query, escaped, beginning with one slash
 * @return 0; MK_E_BAD: it is no path; MK_E_ACCESS: it leads above the root; MK_E_LIMIT: too long, or too often for one
 *         request; MK_E_EXISTS: there is an answer already; MK_E_NOMEM; MK_E_PEER: the request has ended.
 */
MK_API int mk_request_reroute(struct mk_request *r, struct mk_str target) MK_MUST_USE;

/* ---- later ---- */

/**
 * A name for a request that may be over when its answer is known. Never the same twice in a server's
 * life. @return it; 0 without memory, and for a request that has ended.
 */
MK_API uint64_t mk_request_ticket(struct mk_request *r) MK_MUST_USE;

/** @return the request of a ticket, or NULL: it has ended. On the request's worker only. */
MK_API struct mk_request *mk_worker_request(struct mk_worker *w, uint64_t ticket);

/**
 * Go on with a request that waits: the hook that said LATER is asked again, or the producer that said
 * MK_E_AGAIN, or what was answered in the meantime leaves. It runs after the present event, not
 * inside this call.
 */
MK_API void mk_request_resume(struct mk_request *r);

/** The same by ticket, from any thread; a request that has ended is left in peace. @return 0 or MK_E_NOMEM. */
MK_API int mk_server_resume(struct mk_server *server, uint64_t ticket) MK_MUST_USE;

/* ---- the answer ----
 *
 *     struct mk_reply p;
 *
 *     if (mk_reply_begin(&p, r, 200) < 0)
 *         return MK_VERDICT_DONE;
 *     mk_reply_line(&p, MK_STR("Content-Type"), MK_STR("text/plain"));
 *     if (mk_reply_end(&p, 5) == 0)
 *         mk_reply_memory(r, MK_STR("Hello"));
 *     return MK_VERDICT_DONE;
 *
 * One answer a request: a second begin is refused, and logged. From begin to end nothing else may
 * be called. A call that fails ends the connection when the hook has returned; nothing has to be
 * undone. HEAD, 204 and 304 get no body whatever is queued.
 */

/** A head being written. Its inside is the library's. */
struct mk_reply {
    struct mk_request *r;
    char *start, *at, *end;
    int error; /* the first that a line met */
    unsigned status;
    bool has_length, has_upgrade;
    uintptr_t reserved[2];
};

/**
 * Status line, Server and Date.
 * @param status  100 to 599; 101 only before mk_request_take. Another 1xx is an interim response
 *                (RFC 9110 section 15.2) and the final answer follows with another begin.
 * @return 0, MK_E_PEER: the connection is broken; MK_E_EXISTS: there is an answer already.
 */
MK_API int mk_reply_begin(struct mk_reply *p, struct mk_request *r, unsigned status) MK_MUST_USE;

/**
 * A field, copied, unless the site's Header lines override that name. Date and Server take the place of the server's own. What may not
 * stand in a line makes mk_reply_end fail (RFC 9110 section 5.5), and so does a field that says how the message is
 * framed: Content-Length is the length given to mk_reply_end, Connection the server's. Upgrade goes with 101 and 426 only.
 */
MK_API void mk_reply_line(struct mk_reply *p, struct mk_str name, struct mk_str value);

/**
 * The site's Header lines, framing, Connection and the empty line.
 * @param length  of the body to come, in bytes; -1: not known (chunked, or until close for HTTP/1.0)
 * @return 0; MK_E_LIMIT: the head is larger than 16 KB; MK_E_INVALID: a line was not valid; MK_E_PEER.
 */
MK_API int mk_reply_end(struct mk_reply *p, int64_t length) MK_MUST_USE;

/* ---- its body: sources, sent in the order in which they are queued ----
 * Each @return 0, MK_E_NOMEM, or MK_E_INVALID: the answer has no head yet, or has ended. Sources that give less than
 * the head promised break the answer off; what they give more is not sent, and the connection closes.
 */

/** Bytes that live until the request ends (mk_request_alloc, or static): they are not copied. */
MK_API int mk_reply_memory(struct mk_request *r, struct mk_str bytes);

/** Part of a file, by sendfile where the transport can. fd is taken, on failure too. */
MK_API int mk_reply_fd(struct mk_request *r, int fd, uint64_t at, uint64_t len);

/**
 * What comes out of a pipe or a stream socket, by splice(2) where the transport can, until its end.
 * @param fd   taken, on failure too; made non-blocking and watched on the request's worker
 * @param max  at most so many bytes; fewer break the answer off. UINT64_MAX: until its end
 */
MK_API int mk_reply_pipe(struct mk_request *r, int fd, uint64_t max);

/**
 * Gives bytes of a body whose length need not be known.
 * @return > 0: bytes written to dst; 0: the end; MK_E_AGAIN: nothing yet, ask again after
 *         mk_request_resume or when more of the request's body came; another error breaks the answer off.
 */
typedef ssize_t (*mk_produce_fn)(struct mk_request *r, void *arg, char *dst, size_t len);

/** It is asked whenever the client can take more (back-pressure), never after the request ended. */
MK_API int mk_reply_producer(struct mk_request *r, mk_produce_fn produce, void *arg);

/**
 * Bytes of a body that a pipe has, for splice(2): they never come into the program's memory.
 * @param taken  bytes of the pipe that left since the last call
 * @param fd     out: the pipe's end for reading, still the caller's; it does not block
 * @return > 0: so many bytes are in it; 0: the end of the body; MK_E_AGAIN: nothing yet, as for mk_produce_fn;
 *         MK_E_UNSUPPORTED: the pipe is empty and the producer goes on; another error breaks the answer off.
 */
typedef ssize_t (*mk_fill_fn)(struct mk_request *r, void *arg, size_t taken, int *fd);

/** mk_reply_producer that is asked for a pipe first, where nothing has to be done to the bytes: over a plain transport, without chunks and filters. */
MK_API int mk_reply_piped_producer(struct mk_request *r, mk_produce_fn produce, mk_fill_fn fill,
                                   void *arg);

/** Fields behind a chunked body (RFC 9110 section 6.5); dropped when the answer is not chunked. Copied. Before the last source has ended. MK_E_LIMIT: more than 8 KB of them. */
MK_API int mk_reply_trailer(struct mk_request *r, struct mk_str name, struct mk_str value);

/** Break the answer off: the client sees it as not complete. */
MK_API void mk_reply_abort(struct mk_request *r);

/* ---- whole answers; each gives MK_VERDICT_DONE, so that a hook can return it ---- */

/** A short body, copied. @param type  media type; NULL: none */
MK_API enum mk_verdict mk_reply_bytes(struct mk_request *r, unsigned status, const char *type,
                                      struct mk_str body);
/** The site's page for this status, or a small one; after 408 the connection is closed. @param lines  copied: ready field lines, each with CR LF ("Retry-After: 1\r\n"); NULL: none */
MK_API enum mk_verdict mk_reply_error(struct mk_request *r, unsigned status, const char *lines);
/** 301, 302, 303, 307 or 308. @param location  copied: a URI reference, escaped already */
MK_API enum mk_verdict mk_reply_redirect(struct mk_request *r, unsigned status,
                                         struct mk_str location);

/** Media type of a file name by its extension, with charset where text wants one; the site's default when unknown. */
MK_API struct mk_str mk_request_mime(const struct mk_request *r, struct mk_str file_name);

/**
 * Open a file of the site as the server itself would: beneath its root, symbolic links by SymLink.
 * @param path  decoded and normalised, with a leading slash
 * @return a descriptor, the caller's; MK_E_NOENT, MK_E_ACCESS, MK_E_NOFD, MK_E_NOMEM or MK_E_SYS.
 */
MK_API int mk_request_open(struct mk_request *r, struct mk_str path) MK_MUST_USE;

/* ---- the connection ---- */

struct mk_conn_facts {
    size_t size; /* sizeof(struct mk_conn_facts), set by the caller */
    uint64_t id; /* the number in log lines */
    struct mk_worker *worker;
    struct mk_server *server;
    uint8_t peer_ip[16]; /* IPv4 as IPv4-mapped IPv6; after the PROXY protocol */
    unsigned peer_port;  /* 0 for unix sockets */
    bool peer_is_unix;
    const char *listen;    /* the address that it came to, as text with the real port */
    const char *transport; /* "liana", ... */
    const char *tls_version, *tls_cipher; /* NULL: not encrypted */
    struct mk_str client_subject;         /* of a verified client certificate; p NULL: none */
    unsigned requests;                    /* answered or being answered */
};
MK_API void mk_conn_facts(const struct mk_conn *c, struct mk_conn_facts *facts);

/** The link that it travels on, for the plugin whose transport that is: no other can know its state. */
MK_API const struct mk_link *mk_conn_link(const struct mk_conn *c);

/** May its peer say who came before it? One of TrustedProxies may, over a unix socket one of TrustedUsers. */
MK_API bool mk_conn_is_trusted(const struct mk_conn *c) MK_MUST_USE;

/** A line in the error log, as mk_request_log. */
MK_API void mk_conn_log(const struct mk_conn *c, enum mk_log_level level, const char *fmt, ...)
    MK_PRINTF(3, 4);

enum { MK_PEER_TEXT = 64 };
/** The peer's IP address as text, IPv4 in dotted form; "unix:" for unix sockets. @return bytes; terminated. */
MK_API size_t mk_conn_peer(const struct mk_conn *c, char dst[MK_PEER_TEXT]);

#ifdef __cplusplus
}
#endif

#endif
