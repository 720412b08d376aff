/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_H2_READER_H
#define KIT_H2_READER_H

#include "kit/h2/frame.h"

#include <stdbool.h>

/*
 * Frames out of bytes in any pieces. Judged here is what a frame must be by itself (RFC 9113 section 4.2 and 6: sizes,
 * paddings, the stream that it names, CONTINUATION where one is due); what it means for a stream is judged by h2_session.
 */

/** X(NAME, sentence) */
#define H2_READING(X)                                                                              \
    X(PREFACE, "the first bytes of a client")                                                      \
    X(HEAD, "a frame's head")                                                                      \
    X(FIELDS, "what a payload begins with, or is")                                                 \
    X(BODY, "bytes of a body, of a field block, or of settings")                                   \
    X(REST, "padding, and what nobody reads")

enum h2_reading {
#define H2_READING_ENUM(name, sentence) H2_READING_##name,
    H2_READING(H2_READING_ENUM)
#undef H2_READING_ENUM
};

/** What has come. */
enum h2_event {
    H2_MORE,    /* nothing: all bytes are used */
    H2_BEGIN,   /* a frame's head, and the fields of its payload */
    H2_PIECE,   /* bytes of DATA, or of a field block */
    H2_ENTRY,   /* a setting */
    H2_END,     /* the whole frame */
    H2_INVALID, /* an error of the connection: nothing can be read after it */
};

enum { H2_FIELDS_MAX = 64 }; /* bytes of a payload that are gathered: PRIORITY_UPDATE has a text */

struct h2_reader {
    struct h2_frame frame;
    uint32_t body, rest;   /* bytes of the payload that are to come */
    uint32_t block_of;     /* the stream of a field block that goes on; 0: none does */
    uint8_t state;         /* enum h2_reading */
    uint8_t got, need;     /* of what is gathered */
    bool is_first;         /* no frame has come: SETTINGS is due (RFC 9113 section 3.4) */
    const uint8_t *fields; /* out, of H2_BEGIN and H2_ENTRY: `need` bytes */
    const uint8_t *piece;  /* out, of H2_PIECE */
    size_t piece_len;
    enum h2_error error; /* out, of H2_INVALID */
    uint8_t gathered[H2_FIELDS_MAX];
};

/** @param is_server  a client's preface comes first */
void h2_reader_init(struct h2_reader *r, bool is_server);
/**
 * Read on.
 * @param bytes, len  in: what came; out: what is left. Borrowed until the next call, as the events' bytes are
 */
enum h2_event h2_reader_next(struct h2_reader *r, const uint8_t **bytes, size_t *len);

/** Bytes of padding that the frame has, with the byte that says so. */
static inline uint32_t h2_reader_padding(const struct h2_reader *r)
{
    return r->frame.flags & H2_FLAG_PADDED ? r->fields[0] + 1U : 0;
}

#endif
