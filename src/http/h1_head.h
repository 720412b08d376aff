/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_H1_HEAD_H
#define MK_HTTP_H1_HEAD_H

#include "http/method.h"

#include <sys/types.h>

#include <stdbool.h>

/*
 * The head of an HTTP/1 request: RFC 9112 sections 2 to 6, fields as in RFC 9110 section 5.
 * Bytes in, values out. Nothing is copied and nothing allocated: results are offsets into the
 * buffer that holds the head, so the buffer may move while the head is still arriving.
 */

/** A piece of the head, by offset from its first byte. len 0 with off 0: absent. */
struct mk_piece {
    uint32_t off, len;
};

/* Always inline, as a copy of it may be put among the code for the start. */
__attribute__((always_inline)) static inline struct mk_str mk_piece_str(struct mk_piece piece,
                                                                        const char *base)
{
    return piece.off || piece.len ? (struct mk_str){base + piece.off, piece.len}
                                  : (struct mk_str){NULL, 0};
}

/** Fields that the server itself looks at; found while parsing, in O(1) afterwards. */
#define MK_FIELDS(X)                                                                               \
    X(HOST, "host")                                                                                \
    X(CONNECTION, "connection")                                                                    \
    X(CONTENT_LENGTH, "content-length")                                                            \
    X(TRANSFER_ENCODING, "transfer-encoding")                                                      \
    X(EXPECT, "expect")                                                                            \
    X(UPGRADE, "upgrade")                                                                          \
    X(RANGE, "range")                                                                              \
    X(IF_RANGE, "if-range")                                                                        \
    X(IF_MATCH, "if-match")                                                                        \
    X(IF_NONE_MATCH, "if-none-match")                                                              \
    X(IF_MODIFIED_SINCE, "if-modified-since")                                                      \
    X(IF_UNMODIFIED_SINCE, "if-unmodified-since")                                                  \
    X(ACCEPT, "accept")                                                                            \
    X(ACCEPT_ENCODING, "accept-encoding")                                                          \
    X(AUTHORIZATION, "authorization")                                                              \
    X(CONTENT_TYPE, "content-type")                                                                \
    X(COOKIE, "cookie")                                                                            \
    X(REFERER, "referer")                                                                          \
    X(USER_AGENT, "user-agent")

enum mk_field_id {
#define MK_FIELD_ENUM(name, text) MK_FIELD_##name,
    MK_FIELDS(MK_FIELD_ENUM)
#undef MK_FIELD_ENUM
        MK_FIELD_COUNT
};

/** Why a head is refused. The server maps each to a status (RFC sections beside each). */
#define MK_H1_FAULTS(X)                                                                            \
    X(METHOD, "method is not a token", "RFC 9110 9.1")                                             \
    X(TARGET, "bad request target", "RFC 9112 3.2")                                                \
    X(TARGET_LONG, "request target too long", "RFC 9112 3")                                        \
    X(LINE, "request line is not method SP target SP version", "RFC 9112 3")                       \
    X(VERSION, "HTTP version is malformed", "RFC 9112 2.3")                                        \
    X(VERSION_MAJOR, "HTTP major version not supported", "RFC 9110 15.6.6")                        \
    X(LINE_END, "line does not end in CR LF", "RFC 9112 2.2")                                      \
    X(FIELD_NAME, "field name is not a token", "RFC 9110 5.1")                                     \
    X(FIELD_COLON, "blank before the colon of a field", "RFC 9112 5.1")                            \
    X(FIELD_FOLD, "folded field line", "RFC 9112 5.2")                                             \
    X(FIELD_VALUE, "control byte in a field value", "RFC 9110 5.5")                                \
    X(FIELDS_MANY, "too many fields", "RFC 6585 5")                                                \
    X(HEAD_LONG, "head too large", "RFC 6585 5")                                                   \
    X(HOST_MISSING, "no Host field", "RFC 9112 3.2")                                               \
    X(HOST_REPEATED, "more than one Host field", "RFC 9112 3.2")                                   \
    X(HOST_BAD, "invalid Host", "RFC 9112 3.2")                                                    \
    X(LENGTH_BAD, "Content-Length is not a number", "RFC 9110 8.6")                                \
    X(LENGTH_REPEATED, "more than one Content-Length", "RFC 9112 6.3")                             \
    X(LENGTH_AND_CODING, "Content-Length together with Transfer-Encoding", "RFC 9112 6.3")         \
    X(CODING_UNKNOWN, "transfer coding not implemented", "RFC 9112 6.1")                           \
    X(CODING_ORDER, "chunked is repeated or not the last transfer coding", "RFC 9112 6.1")         \
    X(CODING_OLD, "Transfer-Encoding in an HTTP/1.0 request", "RFC 9112 6.1")                      \
    X(EXPECTATION, "expectation other than 100-continue", "RFC 9110 10.1.1")

enum mk_h1_fault {
    MK_H1_FAULT_NONE,
#define MK_H1_FAULT_ENUM(name, text, rfc) MK_H1_FAULT_##name,
    MK_H1_FAULTS(MK_H1_FAULT_ENUM)
#undef MK_H1_FAULT_ENUM
        MK_H1_FAULT_COUNT
};

/** @return the sentence of a fault, from the table. */
const char *mk_h1_fault_text(enum mk_h1_fault fault);

/** The form of the request target, RFC 9112 section 3.2. */
enum mk_target_form {
    MK_TARGET_ORIGIN,    /* /path?query */
    MK_TARGET_ABSOLUTE,  /* http://host/path?query */
    MK_TARGET_AUTHORITY, /* host:port, CONNECT only */
    MK_TARGET_ASTERISK,  /* *, OPTIONS only */
};

/** What the caller allows; read on each call. */
struct mk_h1_limits {
    uint32_t head;   /* bytes of the whole head, line ends included */
    uint32_t target; /* bytes of the request target */
    uint32_t fields; /* number of field lines */
};

struct mk_h1_head {
    /* where the parser stands; the caller only zeroes them before the first call */
    uint32_t line;    /* offset of the line not yet complete */
    uint32_t scanned; /* bytes before this offset need no second look */
    uint32_t colon;   /* offset of the colon of that field line; 0 until it has come */
    uint8_t field;    /* enum mk_field_id of that line */
    bool in_fields;   /* the request line is done */

    /* results, valid after mk_h1_head_parse returned > 0 */
    bool keep_alive;      /* what version and Connection ask for, RFC 9112 section 9.3 */
    bool chunked;         /* the body is chunked */
    bool has_length;      /* Content-Length was sent; content_length is its value */
    bool expect_continue; /* Expect: 100-continue on HTTP/1.1 */
    bool upgrade;         /* Connection: upgrade, and an Upgrade field, on HTTP/1.1 */
    uint8_t minor;        /* HTTP/1.minor: 0 or 1; a higher minor is treated as 1 */
    uint8_t method;       /* enum mk_method */
    uint8_t form;         /* enum mk_target_form */
    uint8_t fault;        /* enum mk_h1_fault, when MK_E_BAD was returned */
    uint16_t nfields;

    uint32_t repeated; /* bit i: known field i came more than once (first one kept) */
    uint64_t content_length;
    struct mk_piece method_name, target;
    struct mk_piece path;      /* of origin and absolute form, raw, never empty ("/" for an empty
                                  absolute one has off 0: use mk_h1_head_path) */
    struct mk_piece query;     /* after the `?`, without it; off 0 when there is no `?` */
    struct mk_piece authority; /* of absolute and authority form */
    struct mk_piece fields;    /* all field lines with their line ends */
    struct mk_piece known[MK_FIELD_COUNT]; /* values, trimmed; an empty value has off > 0, len 0 */
};

/**
 * Parse, or go on parsing, a request head.
 * One empty line before the request line is skipped (RFC 9112 section 2.2: at least one should be).
 * @param h     zeroed by the caller before the first piece; keeps its place between calls
 * @param buf   the head from its first byte on, borrowed for this call; earlier bytes unchanged
 *              since the call before, but the buffer itself may have moved
 * @param len   bytes in buf; may hold more than the head
 * @return > 0: length of the head, final empty line included; MK_E_AGAIN: feed more;
 *         MK_E_BAD: refused, h->fault says why.
 * A line is judged when it is complete or when it cannot become valid: bytes that are no method
 * are refused at once. The work over all calls is linear in the bytes. Reads nothing past buf[len-1].
 */
ssize_t mk_h1_head_parse(struct mk_h1_head *h, const char *buf, size_t len,
                         const struct mk_h1_limits *limits) MK_MUST_USE;

/** Of a head refused with MK_H1_FAULT_TARGET. @return the byte of the target that none may have, or -1: its form is wrong. */
int mk_h1_head_bad_byte(const struct mk_h1_head *h, const char *buf, size_t len);

/** @return the raw path of the target; "/" when an absolute form has none, "*" for asterisk form. */
struct mk_str mk_h1_head_path(const struct mk_h1_head *h, const char *buf);

static inline struct mk_str mk_h1_head_field(const struct mk_h1_head *h, const char *buf,
                                             enum mk_field_id id)
{
    return mk_piece_str(h->known[id], buf);
}

/** @return "HTTP/1.1" or "HTTP/1.0"; static. */
static inline struct mk_str mk_h1_head_version(const struct mk_h1_head *h)
{
    return (struct mk_str){h->minor > 0 ? "HTTP/1.1" : "HTTP/1.0", 8};
}

static inline bool mk_h1_head_has_body(const struct mk_h1_head *h)
{
    return h->chunked || h->content_length > 0;
}

/**
 * Walk all field lines of a parsed head in order of arrival.
 * @param at  in: 0 at first; out: for the next call
 * @return false after the last.
 */
bool mk_h1_head_next_field(const struct mk_h1_head *h, const char *buf, uint32_t *at,
                           struct mk_str *name, struct mk_str *value);

/** Find the first field of any name, case-insensitively. @return its value, or {NULL, 0}. */
struct mk_str mk_h1_head_find(const struct mk_h1_head *h, const char *buf, struct mk_str name);

#endif
