/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_H1_BODY_H
#define MK_HTTP_H1_BODY_H

#include <monkey/types.h>

#include <stdbool.h>
#include <sys/types.h>

/* The body of an HTTP/1 message: RFC 9112 sections 6 and 7. */

struct mk_h1_body {
    bool chunked;
    bool lenient;          /* set by the owner: blanks may follow the size of a chunk */
    uint8_t state;         /* the decoder's own */
    uint64_t left;         /* bytes of the body (length-delimited) or of the chunk still to come */
    uint64_t total;        /* body bytes given out so far */
    uint64_t max;          /* most body bytes allowed */
    uint32_t waste;        /* framing bytes seen so far that no chunk needs; trailers too */
    uint32_t trailers;     /* bytes of the trailer section */
    uint32_t max_trailers; /* most of them; MK_LIMIT_TRAILERS, or what the owner sets below it */
};

/** A body of a known length. @return 0, or MK_E_LIMIT when length is above max. */
int mk_h1_body_init_length(struct mk_h1_body *b, uint64_t length, uint64_t max) MK_MUST_USE;
/** A chunked body of at most max bytes. */
void mk_h1_body_init_chunked(struct mk_h1_body *b, uint64_t max);

/**
 * Strip the framing from bytes just received, in place.
 * @param b    decoder; set up by one of the inits
 * @param buf  received bytes, borrowed for this call; rewritten to hold body bytes only
 * @param len  in: bytes received; out: body bytes now at the front of buf
 * @param used out: how many of the received bytes belonged to this message; the bytes after
 *             them stay where they were, at buf + used
 * @return 1: body complete (bytes of the next message may follow at buf + used);
 *         MK_E_AGAIN: all was used, feed the next piece;
 *         MK_E_BAD: framing error (bare LF, missing or malformed size or extension, a size above 64 bits, bad
 *         trailer);
 *         MK_E_LIMIT: body longer than b->max, trailers above b->max_trailers, or leading zeros,
 *         extensions and trailers above MK_LIMIT_CHUNK_OVERHEAD plus a quarter of the data. An
 *         error stays: each further call fails.
 * Small chunks are no waste, in requests no more than in answers: an event of three bytes has
 * a chunk of its own. They cost their sender six bytes for one, and us the same few instructions
 * for each that any byte of framing does.
 * Allocates nothing and keeps no pointer into buf.  RFC 9112 section 7.1.
 */
int mk_h1_body_decode(struct mk_h1_body *b, char *buf, size_t *len, size_t *used) MK_MUST_USE;

/** Room for the size line of a chunk: hexadecimal size and CR LF. */
enum { MK_H1_CHUNK_HEAD = 18 };

/** Write the size line of a chunk of n > 0 bytes (its data is followed by CR LF). @return length written. */
size_t mk_h1_chunk_head(char dst[MK_H1_CHUNK_HEAD], uint64_t n);

#endif
