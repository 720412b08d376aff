/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_REQUEST_H
#define MONKEY_REQUEST_H

/*
 * A request and its answer, for plugins.
 *
 * A request belongs to the worker of its connection: call these functions on that worker's thread unless
 * their comment says otherwise. A struct mk_request pointer, and texts and memory of the request, are valid
 * until the request ends, which mk_request_on_end reports. A callback that may run later keeps a
 * ticket instead of the pointer.
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

/** The result of a hook in a stage. Any other number is logged and answered with 500. */
enum mk_verdict {
    MK_VERDICT_PASS, /* continue with the next hook, the next handler, the file */
    MK_VERDICT_DONE, /* the hook has answered, or queued sources will; no other hook is called */
    MK_VERDICT_LATER, /* wait: call the hook again after mk_request_resume or when more of the body has arrived */
    MK_VERDICT_CLOSE, /* close the connection without an answer */
};

/* ---- the request ---- */

/** Facts of a request. Texts are borrowed until more of its body is read. */
struct mk_request_facts {
    size_t size; /* sizeof(struct mk_request_facts) or MK_REQUEST_ASKED, set by the caller */
    struct mk_conn *conn;
    struct mk_worker *worker;
    struct mk_server *server;
    struct mk_str method; /* as sent; any token (RFC 9110 section 9.1) */
    struct mk_str target; /* as sent (RFC 9112 section 3.2) */
    /* decoded and normalised, terminated; the path of an index or fallback file that replaced it */
    struct mk_str path;
    struct mk_str query;    /* after `?`, as sent; p NULL without `?` */
    struct mk_str host;     /* authority of the target or the Host field; p NULL when absent */
    const char *scheme;     /* "http"; "https" if the transport is encrypted */
    unsigned minor;         /* HTTP/1.minor */
    int64_t content_length; /* of the request's body; -1: chunked; 0: none */
    int64_t began_ms;       /* monotonic time of the first byte, as mk_worker_now_ms */
    unsigned status;        /* of the answer; 0: none yet */
    uint64_t body_sent;     /* bytes of the answer's body so far, without framing */
    /* the kernel or the send buffer has the complete answer; true only in on_finish */
    bool whole;
    const char *document_root; /* of the site; NULL: none */
    const char *site_name;     /* first ServerName of the site; "" when it has none */
    struct mk_str user;        /* mk_request_set_user; p NULL: unknown */
    const char *reason;        /* of a refusal or failure, a sentence; NULL: unknown */
    bool symlinks;             /* symbolic links are followed (SymLink) */
    /* as sent, of a request with a refused head; p NULL for others */
    struct mk_str request_line;
    struct mk_str
        protocol; /* "HTTP/1.0", "HTTP/1.1", "HTTP/2.0"; static; minor is 1 for all but the first */
    uint64_t body_received; /* bytes of the request's body so far, without framing */
    /* the path is not the one that was asked for: an index file, TryFiles, an error page, a rewrite or a handler led to it */
    bool is_inner;
};
MK_API void mk_request_facts(const struct mk_request *r, struct mk_request_facts *facts);
/** A size with which only what was asked is told, the members before status, in two thirds of the time. */
#define MK_REQUEST_ASKED offsetof(struct mk_request_facts, status)
/** Some of the facts alone, for what looks at every request: method, path, query, content_length and whole. */
MK_API struct mk_str mk_request_method(const struct mk_request *r);
MK_API struct mk_str mk_request_path(const struct mk_request *r);
MK_API struct mk_str mk_request_query(const struct mk_request *r);
MK_API int64_t mk_request_content_length(const struct mk_request *r);
MK_API bool mk_request_is_whole(const struct mk_request *r);

/** The result of a request, for what counts every one in on_finish. Small enough for two registers, so it never grows. */
struct mk_request_result {
    uint32_t status; /* as in the facts */
    uint32_t
        took_ms; /* since the first byte of the request, from one turn of the loop to another */
    uint64_t body_sent; /* as in the facts */
};
MK_API struct mk_request_result mk_request_result(const struct mk_request *r);

/**
 * Walk the ways in which applications may read the path. Number 0 is facts.path. Further ones exist for a path with `;`
 * (some applications cut the rest of the segment), `\` (taken for `/`), or dots or blanks at the end of a segment
 * (omitted); dot segments that result are removed. With LenientPaths off there are none. Apply a rule that denies access
 * to each of them.
 * @param path  out: terminated, lives as long as the request
 * @return 1; 0: there are no more; MK_E_NOMEM: there is one, and the rule must be treated as matching.
 */
MK_API int mk_request_reading(struct mk_request *r, unsigned number,
                              struct mk_str *path) MK_MUST_USE;

/** Set the user who sent the request, for logs and handlers. @param user  copied. @return 0, or MK_E_NOMEM: not set. */
MK_API int mk_request_set_user(struct mk_request *r, struct mk_str user) MK_MUST_USE;

/** @return the value of the first field line of this name, in any case; {NULL, 0}: absent. */
MK_API struct mk_str mk_request_header(const struct mk_request *r, struct mk_str name);

/** Fields that the server has found already, for what looks at them in every request: each as mk_request_header gives it. */
struct mk_request_headers {
    size_t size; /* sizeof(struct mk_request_headers), set by the caller */
    struct mk_str content_type, connection, if_modified_since, range;
};
/** @param headers  out: as much of it as its size says */
MK_API void mk_request_headers(const struct mk_request *r, struct mk_request_headers *headers);

/**
 * Walk all field lines in order of arrival.
 * @param at  in: 0 at first; out: for the next call
 * @return false after the last.
 */
MK_API bool mk_request_next_header(const struct mk_request *r, uint32_t *at, struct mk_str *name,
                                   struct mk_str *value);

/**
 * Read decoded bytes of the request body as they arrive. Unread bytes stay in the kernel, so a
 * fast client waits (back-pressure). One turn of the loop gives about 1 MB; then the result is MK_E_AGAIN, and the
 * next turn follows without a wake-up.
 * @return > 0: bytes; 0: end of the body; MK_E_AGAIN: none yet; the hook that returned LATER, or the producer, is called
 *         again when more has arrived; MK_E_BAD: malformed framing; MK_E_LIMIT: larger than MaxBodySize, or a trailer
 *         section that is too large; MK_E_PEER: the client closed the connection, or the request has ended;
 *         MK_E_INVALID: len is 0.
 */
MK_API ssize_t mk_request_read(struct mk_request *r, char *dst, size_t len) MK_MUST_USE;

/** @return unread bytes of the body that arrived with the head, with framing, without those in the kernel. */
MK_API size_t mk_request_buffered(const struct mk_request *r) MK_MUST_USE;

/**
 * Report the bytes of memory that a handler keeps for this request, such as a gathered body. They count
 * against MaxMemory from the connection's next turn until the request ends. Replaces the last report.
 */
MK_API void mk_request_hold(struct mk_request *r, size_t bytes);

/**
 * Walk the trailer section of a chunked body, in order of arrival. Trailers are not fields of the head: use
 * only fields that are known to be allowed there (RFC 9110 section 6.5). With the head they count against MaxRequestSize,
 * and they are at most 8 KB; with more, mk_request_read returns MK_E_LIMIT. Without memory there are none.
 * @param at  in: 0 at first; out: for the next call
 * @return false after the last, and before mk_request_read has given the end of the body.
 */
MK_API bool mk_request_next_trailer(const struct mk_request *r, uint32_t *at, struct mk_str *name,
                                    struct mk_str *value);

/** @return memory that lives until the request ends, aligned for any type, not zeroed; NULL: no memory, or above the request's limit (256 KB). */
MK_API void *mk_request_alloc(struct mk_request *r, size_t size) MK_MUST_USE;

/** @return formatted, terminated text that lives until the request ends; NULL without memory. */
MK_API char *mk_request_printf(struct mk_request *r, const char *fmt, ...) MK_MUST_USE
    MK_PRINTF(2, 3);

/**
 * Call fn(arg) once when the request has ended: answered, broken off, or its connection closed. Callbacks run
 * last-in, first-out. No answer can be given any more.
 * @return 0, or MK_E_NOMEM: fn will not be called.
 */
MK_API int mk_request_on_end(struct mk_request *r, void (*fn)(void *arg), void *arg) MK_MUST_USE;

/**
 * Keep an object with the request, for a hook that is called again after LATER.
 * @param key     distinguishes the objects of plugins: an address of the caller's own, such as its mk_plugin
 * @param object  borrowed; replaces an earlier object of that key
 * @return 0 or MK_E_NOMEM.
 */
MK_API int mk_request_keep(struct mk_request *r, const void *key, void *object) MK_MUST_USE;
/** @return the object that was kept for the key; NULL: none. */
MK_API void *mk_request_kept(const struct mk_request *r, const void *key);

/**
 * Choose whether a client that ends its sending half (FIN) ends its request. On: the request is broken off,
 * which suits expensive work. Off (the state at first): the client may still be reading.
 */
MK_API void mk_request_ends_on_hangup(struct mk_request *r, bool on);

/** Set the time in which the handler must give the next byte of the answer, in place of HandlerTimeout; 0: no limit. When it expires, the request is logged and answered with 500, or broken off. */
MK_API void mk_request_timeout(struct mk_request *r, unsigned ms);

/** Set the reason of the error with which the request is about to be answered, for the site's error log: one sentence, copied; NULL removes it. */
MK_API void mk_request_reason(struct mk_request *r, const char *text);

/** Write a line with the connection's number to the error log, at most 20 such lines a second. The caller escapes bytes from peers. */
MK_API void mk_request_log(const struct mk_request *r, enum mk_log_level level, const char *fmt,
                           ...) MK_PRINTF(3, 4);
/** Would mk_request_log write lines of this level now? For those that log each step of a request: asked once, at its start. */
MK_API bool mk_request_logs(const struct mk_request *r, enum mk_log_level level);

/**
 * Compare another path with the pattern of the current route. In on_handle, for handlers that divide a path: where
 * the pattern is for the name of a script, the name alone must match.
 */
MK_API bool mk_request_matches(const struct mk_request *r, struct mk_str path);

/** The progress of a comparison with the pattern of a route; zeroed at first. */
struct mk_match {
    size_t len;
    unsigned state;
};

/**
 * The same for growing beginnings of a path, in one pass over the path altogether.
 * @param path  the path of the last call with m, and further bytes
 */
MK_API bool mk_request_matches_on(const struct mk_request *r, struct mk_match *m,
                                  struct mk_str path);

/**
 * Answer with another path of this site, as for a GET request (HEAD stays HEAD) without a body. After the current event,
 * hooks of stage 20, handlers and files are tried again. All facts but target are then those of the other path.
 * A hook that calls this returns LATER. A hook that returned LATER for the old path is not called again for it.
 * @param target  path and perhaps a query, escaped, with one slash at the beginning
 * @return 0; MK_E_BAD: not a path; MK_E_ACCESS: the path climbs above the root; MK_E_LIMIT: too long, or too often for one
 *         request; MK_E_EXISTS: there is an answer already; MK_E_NOMEM; MK_E_PEER: the request has ended.
 */
MK_API int mk_request_reroute(struct mk_request *r, struct mk_str target) MK_MUST_USE;
/** The same, with the request's own method and body. Of the facts only path and query are then those of the other path. */
MK_API int mk_request_rewrite(struct mk_request *r, struct mk_str target) MK_MUST_USE;

/* ---- later ---- */

/**
 * Get a name for a request that may have ended when its answer is known. A server never gives the same ticket twice.
 * @return the ticket; 0: no memory, or the request has ended.
 */
MK_API uint64_t mk_request_ticket(struct mk_request *r) MK_MUST_USE;

/** @return the request of a ticket; NULL: it has ended. On the request's worker only. */
MK_API struct mk_request *mk_worker_request(struct mk_worker *w, uint64_t ticket);

/**
 * Continue a request that waits: call the hook that returned LATER or the producer that returned MK_E_AGAIN again, or
 * send the answer that was given meanwhile. This happens after the current event, not inside this call.
 */
MK_API void mk_request_resume(struct mk_request *r);

/** The same by ticket; nothing happens if the request has ended. Any thread. @return 0 or MK_E_NOMEM. */
MK_API int mk_server_resume(struct mk_server *server, uint64_t ticket) MK_MUST_USE;

/* ---- the answer ----
 *
 *     struct mk_reply p;
 *
 *     if (mk_reply_begin(&p, r, 200) < 0)
 *         return MK_VERDICT_DONE;
 *     mk_reply_line(&p, MK_STR("Content-Type"), MK_STR("text/plain"));
 *     if (mk_reply_end(&p, 5) == 0)
 *         (void)!mk_reply_memory(r, MK_STR("Hello"));
 *     return MK_VERDICT_DONE;
 *
 * A request has one answer: a second begin is refused and logged. Between begin and end, call nothing
 * else. After a failed call the connection is closed when the hook returns; nothing has to be
 * undone. HEAD, 204 and 304 get no body even if sources are queued.
 */

/** A head that is being written. Its members but one belong to the library. */
struct mk_reply {
    struct mk_request *r;
    char *start, *at, *end;
    int error; /* of the first line that failed */
    unsigned status;
    bool has_length, has_upgrade;
    /**
     * The caller's, after mk_reply_begin: the lines that follow are clean, because it looked at each when it was given it, and so
     * mk_reply_line does not look again: mk_field_rules gave no MK_RULE_MESSAGE for a name that is a token, and no byte of the
     * value is a control but a tab.
     */
    bool is_clean;
    uintptr_t reserved[2];
};

/**
 * Add a field, copied, to the answer that a later call gives, whichever that is: mk_reply_bytes, mk_reply_json, a redirect, a
 * file, an error page. A name that is given twice is sent twice. The site's Header lines override that name.
 * @return 0; MK_E_INVALID: bytes that are not allowed in a line (RFC 9110 section 5.5), a field of the message's framing, Date,
 *         Server, Trailer or Content-Range; MK_E_EXISTS: the answer has begun; MK_E_LIMIT: 8 KB of them at most; MK_E_NOMEM.
 */
MK_API int mk_reply_field(struct mk_request *r, struct mk_str name,
                          struct mk_str value) MK_MUST_USE;

/**
 * Write the status line, Server and Date.
 * @param status  100 to 599; 101 only before mk_request_take. Another 1xx is an interim response
 *                (RFC 9110 section 15.2); begin again for the final answer.
 * @return 0, MK_E_PEER: the connection is broken; MK_E_EXISTS: there is an answer already.
 */
MK_API int mk_reply_begin(struct mk_reply *p, struct mk_request *r, unsigned status) MK_MUST_USE;

/**
 * Add a field, copied, unless the site's Header lines override that name. Date and Server replace the server's own.
 * Bytes that are not allowed in a line make mk_reply_end fail (RFC 9110 section 5.5), and so do fields of the message's
 * framing: mk_reply_end writes Content-Length from its length, the server writes Connection. Upgrade is allowed with 101
 * and 426 only.
 */
MK_API void mk_reply_line(struct mk_reply *p, struct mk_str name, struct mk_str value);

/**
 * Write the site's Header lines, framing, Connection and the empty line.
 * @param length  of the body, in bytes; -1: unknown (chunked, or until close for HTTP/1.0)
 * @return 0; MK_E_LIMIT: the head is larger than 1 MB; MK_E_INVALID: a line was invalid; MK_E_PEER.
 */
MK_API int mk_reply_end(struct mk_reply *p, int64_t length) MK_MUST_USE;

/* ---- its body: sources, sent in the order in which they are queued ----
 * Each @return 0, MK_E_NOMEM, or MK_E_INVALID: the answer has no head yet, or has ended. Sources with fewer bytes than
 * the head promised break the answer off; excess bytes are not sent, and the connection is closed.
 *
 * The results are for a caller with something of its own to undo. Otherwise a failure needs nothing, and `(void)!` before
 * the call says so:
 *   mk_reply_memory, mk_reply_producer, mk_reply_piped_producer   the answer is broken off, and logged where it was misused
 *   mk_reply_fd, mk_reply_pipe                                    the same, and fd is closed
 *   mk_reply_trailer                                              the same; the body is whole without a field that is refused
 */

/** Send bytes that live until the request ends (mk_request_alloc, or static); they are not copied. */
MK_API int mk_reply_memory(struct mk_request *r, struct mk_str bytes) MK_MUST_USE;

/** Send part of a file, by sendfile where the transport can. fd is taken, also on failure. */
MK_API int mk_reply_fd(struct mk_request *r, int fd, uint64_t at, uint64_t len) MK_MUST_USE;

/**
 * Send the bytes of a pipe or a stream socket until its end, by splice(2) where the transport can.
 * @param fd   taken, also on failure; made non-blocking and watched on the request's worker
 * @param max  the number of bytes; fewer break the answer off. UINT64_MAX: until the end
 */
MK_API int mk_reply_pipe(struct mk_request *r, int fd, uint64_t max) MK_MUST_USE;

/**
 * Produce bytes of a body, whose length may be unknown.
 * @return > 0: bytes written to dst; 0: the end; MK_E_AGAIN: none yet; call again after
 *         mk_request_resume or when more of the request's body has arrived; another error breaks the answer off.
 */
typedef ssize_t (*mk_produce_fn)(struct mk_request *r, void *arg, char *dst, size_t len);

/** Call produce whenever the client can take more (back-pressure), never after the request has ended. */
MK_API int mk_reply_producer(struct mk_request *r, mk_produce_fn produce, void *arg) MK_MUST_USE;

/**
 * Offer the bytes of a body in a pipe, for splice(2) without a copy to the program's memory.
 * @param taken  bytes taken from the pipe since the last call
 * @param fd     out: the reading end of the pipe, non-blocking, owned by the caller
 * @return > 0: bytes in the pipe; 0: the end of the body; MK_E_AGAIN: none yet, as for mk_produce_fn;
 *         MK_E_UNSUPPORTED: the pipe is empty and the producer goes on; another error breaks the answer off.
 */
typedef ssize_t (*mk_fill_fn)(struct mk_request *r, void *arg, size_t taken, int *fd);

/** mk_reply_producer that calls fill first where bytes are sent unchanged: over a plain transport, without chunks and filters. */
MK_API int mk_reply_piped_producer(struct mk_request *r, mk_produce_fn produce, mk_fill_fn fill,
                                   void *arg) MK_MUST_USE;

/** Add a trailer of a chunked body (RFC 9110 section 6.5), copied, before the last source has ended; dropped if the answer is not chunked. MK_E_LIMIT: more than 8 KB of them. */
MK_API int mk_reply_trailer(struct mk_request *r, struct mk_str name,
                            struct mk_str value) MK_MUST_USE;

/** Break the answer off: the client can see that it is incomplete. */
MK_API void mk_reply_abort(struct mk_request *r);

/* ---- complete answers; each returns MK_VERDICT_DONE, which a hook can return ---- */

/** Answer with a short body, copied. @param type  media type; NULL: none */
MK_API enum mk_verdict mk_reply_bytes(struct mk_request *r, unsigned status, const char *type,
                                      struct mk_str body);
/**
 * Answer with the site's page for this status, or a small one. After 408 the connection is closed.
 * @param lines  copied: complete field lines, each with CR LF ("Retry-After: 1\r\n"); NULL: none
 */
MK_API enum mk_verdict mk_reply_error(struct mk_request *r, unsigned status, const char *lines);
/** Redirect with 301, 302, 303, 307 or 308. @param location  copied: an escaped URI reference */
MK_API enum mk_verdict mk_reply_redirect(struct mk_request *r, unsigned status,
                                         struct mk_str location);

/**
 * Answer with a file below a folder that is no site's, as with the site's files: GET and HEAD, ranges, preconditions,
 * precompressed variants, index files, a slash behind directories; 404 without a file. In on_handle.
 * @param root  absolute and terminated; the folder
 * @param path  decoded and normalised, terminated, with a leading slash; lives as long as the request
 */
MK_API enum mk_verdict mk_reply_beneath(struct mk_request *r, struct mk_str root,
                                        struct mk_str path);

/** @return the media type of a file name by its extension, with a charset for text; the site's default if unknown. */
MK_API struct mk_str mk_request_mime(const struct mk_request *r, struct mk_str file_name);

/**
 * Open a file of the site as the server itself would: beneath its root, symbolic links by SymLink.
 * @param path  decoded and normalised, with a leading slash
 * @return a descriptor, owned by the caller; MK_E_NOENT, MK_E_ACCESS, MK_E_NOFD, MK_E_NOMEM or MK_E_SYS.
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
    const char *listen;                   /* the listening address, as text with the real port */
    const char *transport;                /* "liana", ... */
    const char *tls_version, *tls_cipher; /* NULL: not encrypted */
    struct mk_str client_subject;         /* of a verified client certificate; p NULL: none */
    unsigned requests;                    /* answered or being answered */
};
/** @param c  NULL, as for the other mk_conn_ calls that only read: what a request from memory has (<monkey/ask.h>), with the calling worker */
MK_API void mk_conn_facts(const struct mk_conn *c, struct mk_conn_facts *facts);

/** @return the connection's link, for the plugin of its transport: no other plugin knows its state. */
MK_API const struct mk_link *mk_conn_link(const struct mk_conn *c);

/** @return whether the peer is trusted to name its own client: one of TrustedProxies or, on a unix socket, of TrustedUsers. */
MK_API bool mk_conn_is_trusted(const struct mk_conn *c) MK_MUST_USE;

/** Write a line to the error log, as mk_request_log. */
MK_API void mk_conn_log(const struct mk_conn *c, enum mk_log_level level, const char *fmt, ...)
    MK_PRINTF(3, 4);

enum { MK_PEER_TEXT = 64 };
/** Write the peer's IP address as text, terminated: IPv4 in dotted form, "unix:" for unix sockets. @return bytes. */
MK_API size_t mk_conn_peer(const struct mk_conn *c, char dst[MK_PEER_TEXT]);

#ifdef __cplusplus
}
#endif

#endif
