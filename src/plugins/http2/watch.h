/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP2_WATCH_H
#define HTTP2_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What nghttp2 does not look at, or does not tell: frames of streams that have ended; PRIORITY, which nobody obeys here
 * (RFC 9218 section 2.1) but which may be malformed all the same; and how many frames come that move nothing.
 */

enum {
    H2_WATCH_RESETS =
        128,            /* streams that we reset: what their clients had sent by then is skipped */
    H2_WATCH_ENDS = 32, /* streams that ended otherwise */
};

struct h2_watch {
    uint32_t skip;       /* bytes of a payload to come */
    uint8_t got;         /* bytes of bytes */
    uint8_t bytes[14];   /* of a frame's head, and of a payload of PRIORITY */
    uint8_t nresets;     /* of resets, modulo their number */
    bool has_all_resets; /* fewer were made than are kept */
    bool is_end;         /* the frame that was walked last ends a stream, or a side of it */
    bool has_ends;       /* one of those that were walked since they were last passed on */
    uint8_t nends;
    uint32_t idle; /* frames of PRIORITY, CONTINUATION and unknown types that nobody has paid for */
    int32_t newest; /* stream that a client has begun */
    int32_t resets[H2_WATCH_RESETS], ends[H2_WATCH_ENDS];
};

/** A frame's fault: 0 or an error of HTTP/2 (RFC 9113 section 7). */
typedef uint32_t h2_fault;

void h2_watch_init(struct h2_watch *w);
/**
 * Walk bytes as they came, to the end of the head of the next DATA frame. A fault of PRIORITY is one of the connection, which
 * RFC 9113 section 5.4.2 allows: its stream may not have begun, and such a stream cannot be reset.
 * @param id  out: of the DATA frame; 0: there is none among these bytes
 * @return bytes walked
 */
size_t h2_watch_bytes(struct h2_watch *w, const uint8_t *bytes, size_t len, int32_t *id,
                      h2_fault *fault);
/** The head of a DATA or HEADERS frame whose stream is not open. @param is_data  DATA, or HEADERS. */
h2_fault h2_watch_closed(const struct h2_watch *w, int32_t id, bool is_data);
/** A stream has ended. @param is_ours  we reset it while its client could still send. */
void h2_watch_end(struct h2_watch *w, int32_t id, bool is_ours);

#endif
