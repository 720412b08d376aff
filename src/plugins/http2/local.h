/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP2_LOCAL_H
#define HTTP2_LOCAL_H

#include "counts.h"

#include <nghttp2/nghttp2.h>

/* What the connections of one worker share. Pages of its buffers that no byte passed cost nothing. */

enum {
    H2_FRAME_HEAD = 9,    /* RFC 9113 section 4.1 */
    H2_FRAME_MAX = 16384, /* of a frame that we send: what each client takes */
    H2_OUT = 4 * (H2_FRAME_HEAD + H2_FRAME_MAX),
    H2_IN = 16384,
    H2_FIELDS = 256,  /* of a head that we send */
    H2_NAMES = 16384, /* bytes of their names; a larger head has memory for its own */
    H2_ROOM = 16384,  /* for a head that is being written */
    H2_HEAD_MAX =
        2 << 20, /* of a head that we send, as nghttp2 counts: above what the server lets through */
};

/** [HTTP2]. */
struct h2_settings {
    int64_t max_streams;
    int64_t stream_window, connection_window;
    int64_t ping_ms;
    struct h2_counts *counts; /* from its start to its stop */
};

struct h2_stream;

struct h2_local {
    struct mk_worker *worker;
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;
    struct h2_settings set;
    struct h2_counts *counts;
    struct h2_row *row;              /* of counts */
    unsigned refs;                   /* its configuration, and connections */
    size_t used;                     /* of out; 0 between any two calls of a connection */
    bool has_data;                   /* a DATA frame was written */
    const struct h2_stream *writing; /* whose head is in room; NULL: nobody's */
    nghttp2_nv fields[H2_FIELDS];
    char room[H2_ROOM];
    char names[H2_NAMES];
    uint8_t in[H2_IN];
    char out[H2_OUT];
};

/** @return it with one reference; NULL without memory. */
struct h2_local *h2_local_new(struct mk_worker *worker, const struct h2_settings *set) MK_MUST_USE;
/** On its worker, or when that has ended. */
void h2_local_put(struct h2_local *local);

#endif
