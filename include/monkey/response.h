/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_RESPONSE_H
#define MONKEY_RESPONSE_H

/*
 * Reading what a backend answers: the head of a response, and its body without the framing. Pure: bytes
 * in, values out. Any thread. In libmonkey-upstream: pkg-config --libs monkey-upstream.
 */

#include <monkey/types.h>

#include <stdbool.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum mk_response_kind {
    MK_RESPONSE_HTTP, /* begins with a status line (RFC 9112 section 4) */
    MK_RESPONSE_CGI,  /* begins with fields; Status gives the status (RFC 3875 section 6) */
};

/** The head of a backend's response. Offsets, so that the buffer may move while it arrives. */
struct mk_response_head {
    /* where the parser stands; zeroed by the caller before the first call */
    uint32_t line, scanned, nfields;
    /* results */
    unsigned status; /* 100 to 599; of a CGI response without Status 302 with Location, else 200 */
    unsigned minor;  /* HTTP/1.minor: 0 or 1; a higher minor is treated as 1; 0 for CGI */
    int64_t content_length; /* -1: not said */
    bool chunked;           /* and nothing else is in Transfer-Encoding */
    bool keep_alive;        /* by version and Connection (RFC 9112 section 9.3); never for CGI */
    bool upgrade; /* 101 with Connection: upgrade and an Upgrade field (RFC 9110 section 7.8) */
    uint32_t reason_off, reason_len; /* both 0: none */
    uint32_t fields_off, fields_len; /* all field lines with their line ends */
    const char *why;                 /* after MK_E_BAD and MK_E_LIMIT: a sentence */
    uintptr_t reserved[4];
};

/**
 * Parse, or go on parsing. Bare LF ends a line in CGI responses too (RFC 3875 section 7.2), never in HTTP
 * ones. Refused are Content-Length with Transfer-Encoding, several lengths that differ, transfer codings
 * other than chunked, any in HTTP/1.0 and CGI, control bytes, NUL, folded lines and blanks before a colon:
 * what one reads another way than the next is how responses are smuggled. A CGI response has a field at
 * least, and Status, Location and Content-Type at most once.
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

/** A body on its way. */
struct mk_body {
    uint64_t left;            /* until the known end; of the present chunk */
    uint64_t total;           /* body bytes given so far */
    uint32_t waste, trailers; /* bytes of framing so far that no chunk needs; trailers are some */
    uint8_t kind, state;
    uintptr_t reserved[4];
};

/**
 * A decoder for the body of a response, by RFC 9112 section 6.3; of CGI, to the end of input or of
 * Content-Length, whichever comes first.
 * @param h                 parsed to its end
 * @param request_was_head  the answer to HEAD has no body
 */
MK_API void mk_body_init(struct mk_body *b, const struct mk_response_head *h,
                         bool request_was_head);
/**
 * Take the framing out of bytes just received, in place. Trailers are dropped.
 * @param len   in: bytes received, may be 0; out: body bytes now at the front of buf
 * @param used  out: bytes of buf consumed; what follows belongs to the next message
 * @return 1: the body is complete; MK_E_AGAIN: feed more; MK_E_BAD; MK_E_LIMIT: framing out of proportion.
 */
MK_API int mk_body_decode(struct mk_body *b, char *buf, size_t *len, size_t *used) MK_MUST_USE;
/** The connection ended. @return 0: so did the body; MK_E_PEER: it was cut off. */
MK_API int mk_body_end(const struct mk_body *b) MK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
