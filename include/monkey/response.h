/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_RESPONSE_H
#define MONKEY_RESPONSE_H

/*
 * Parsing a backend's response: its head, and its body without the framing. Pure functions from bytes
 * to values. Any thread. In libmonkey-upstream: pkg-config --libs monkey-upstream.
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

/** The head of a backend's response. Offsets allow the buffer to move while the head arrives. */
struct mk_response_head {
    /* state of the parser; zeroed by the caller before the first call */
    uint32_t line, scanned, nfields;
    /* results */
    unsigned status; /* 100 to 599; of a CGI response without Status 302 with Location, else 200 */
    unsigned minor;  /* HTTP/1.minor: 0 or 1; a higher minor is treated as 1; 0 for CGI */
    int64_t content_length; /* -1: unknown */
    bool chunked;           /* Transfer-Encoding is exactly this */
    bool keep_alive;        /* by version and Connection (RFC 9112 section 9.3); never for CGI */
    bool upgrade; /* 101 with Connection: upgrade and an Upgrade field (RFC 9110 section 7.8) */
    /* set by the caller: a bare LF ends a line of an HTTP response too, and blanks may follow the size of a chunk */
    bool lenient;
    uint32_t reason_off, reason_len; /* both 0: none */
    uint32_t fields_off, fields_len; /* all field lines with their line ends */
    const char *why;                 /* after MK_E_BAD and MK_E_LIMIT: a sentence */
    uintptr_t reserved[4];
};

/**
 * Parse a head, or continue parsing it. A bare LF ends a line in CGI responses (RFC 3875 section 7.2), in HTTP
 * responses only with h->lenient. A 204 has no body, whatever its fields say of one (RFC 9112 section 6.3); its connection is not
 * used again then. Refused are Content-Length with Transfer-Encoding, different lengths, transfer codings
 * other than chunked, any transfer coding in HTTP/1.0 and CGI, control bytes, NUL, folded lines and blanks before a
 * colon: two programs that read a head differently make response smuggling possible. A CGI response has at least one
 * field, and Status, Location and Content-Type at most once.
 * @param buf  the head from its first byte on; earlier bytes are unchanged since the last call
 * @return > 0: its length with the empty line; MK_E_AGAIN: more bytes are needed; MK_E_BAD; MK_E_LIMIT: longer
 *         than max bytes or 200 fields.
 * Allocates nothing; linear in the bytes over all calls. Any thread.
 */
MK_API ssize_t mk_response_parse(struct mk_response_head *h, enum mk_response_kind kind,
                                 const char *buf, size_t len, size_t max) MK_MUST_USE;
enum { MK_RESPONSE_FIELDS_MAX = 200 };

/** After MK_E_LIMIT. @return whether the head is longer than max bytes; false: it has too many fields. */
static inline bool mk_response_is_too_long(const struct mk_response_head *h)
{
    return h->nfields < MK_RESPONSE_FIELDS_MAX;
}

/** Walk the fields of a head. @param at  0 at first. @return false after the last. */
MK_API bool mk_response_next(const struct mk_response_head *h, const char *buf, uint32_t *at,
                             struct mk_str *name, struct mk_str *value);
/** The first field of a name, in any case; {NULL, 0} when absent. */
MK_API struct mk_str mk_response_find(const struct mk_response_head *h, const char *buf,
                                      struct mk_str name);

/** A body that arrives in pieces. */
struct mk_body {
    uint64_t left;     /* bytes of the body, or of the current chunk, still to come */
    uint64_t total;    /* body bytes decoded so far */
    uint32_t waste;    /* dispensable bytes of framing so far */
    uint32_t trailers; /* bytes of trailers among them */
    uint8_t kind, state;
    bool lenient;
    uintptr_t reserved[4];
};

/**
 * Prepare a decoder for the body of a response (RFC 9112 section 6.3). A CGI body ends with the input or after
 * Content-Length, whichever comes first.
 * @param h                 completely parsed
 * @param request_was_head  the answer to HEAD has no body
 */
MK_API void mk_body_init(struct mk_body *b, const struct mk_response_head *h,
                         bool request_was_head);
/**
 * Remove the framing from received bytes, in place. Trailers are dropped.
 * @param len   in: bytes received, may be 0; out: body bytes now at the front of buf
 * @param used  out: bytes of buf consumed; the rest belongs to the next message
 * @return 1: the body is complete; MK_E_AGAIN: more bytes are needed; MK_E_BAD; MK_E_LIMIT: disproportionate framing.
 */
MK_API int mk_body_decode(struct mk_body *b, char *buf, size_t *len, size_t *used) MK_MUST_USE;
/** Decode the end of the connection. @return 0: the body is complete; MK_E_PEER: it is incomplete. */
MK_API int mk_body_end(const struct mk_body *b) MK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
