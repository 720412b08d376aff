/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPRESS_ENCODER_H
#define COMPRESS_ENCODER_H

#include <monkey/plugin.h>

/*
 * Content codings behind one table. An encoder writes one stream of a coding, piece by piece, with a window that bounds its
 * memory whatever the length of the body.
 */

enum { ENCODER_LEVELS = 9 }; /* 1: the fastest */

/** What follows the input of a call. */
enum encoder_flow {
    ENCODER_MORE,   /* more input */
    ENCODER_FLUSH,  /* nothing for now: write all that was given so far. Without input */
    ENCODER_FINISH, /* nothing: write the end of the stream */
};

/** A stream that several states write one after the other. Zeroed before the first. */
struct encoder_past {
    uint64_t len; /* bytes of input so far: the caller adds what each call used */
    uint32_t crc; /* of them; gzip keeps it */
};

struct encoder {
    struct mk_str coding;        /* as in Content-Encoding: RFC 9110 section 8.4.1 */
    uint16_t kb[ENCODER_LEVELS]; /* the most memory of one stream, in KB, by level - 1 */
    /** @param past  borrowed until it is closed; with input, the stream goes on behind that. @return NULL: no memory. */
    void *(*open)(unsigned level, struct encoder_past *past);
    /** The flow after whose end, unless the stream has ended with it, another state may go on. */
    enum encoder_flow part_end;
    /**
     * Encode a piece.
     * @param in_len, out_len  in: input, room; out: bytes used, written
     * @return enum mk_filter_result; MK_FILTER_HOLDS after a flush: call again with room. MK_E_NOMEM or MK_E_BAD.
     */
    int (*code)(void *state, const char *in, size_t *in_len, char *out, size_t *out_len,
                enum encoder_flow flow);
    void (*close)(void *state);
};

/** Those whose library was there at the build. */
extern const struct encoder compress_encoder_br, compress_encoder_gzip, compress_encoder_zstd;

enum { ENCODERS_MAX = 3 };

/** @return the number-th of those that were built, from 0; NULL: there are no more. */
const struct encoder *compress_encoder_at(unsigned number);

/** @return its number in compress_encoder_at; ENCODERS_MAX: a coding that was not built. In any case of letters. */
unsigned compress_encoder_find(struct mk_str coding);

/** @return the most memory of a stream, in bytes. */
static inline size_t encoder_memory(const struct encoder *e, unsigned level)
{
    return (size_t)e->kb[level - 1] * 1024;
}

#endif
