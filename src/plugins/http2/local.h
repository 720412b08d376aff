/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP2_LOCAL_H
#define HTTP2_LOCAL_H

#include "counts.h"
#include "kit/h2/channel.h"

/* What the connections of one worker share. Pages of its buffers that no byte passed cost nothing. */

enum {
    HTTP2_ROOM = 16384, /* for a head that is being written */
    HTTP2_AGAIN = 1024, /* bytes of a head that may come again, at most */
};

/** [HTTP2]. */
struct http2_settings {
    int64_t max_streams;
    int64_t stream_window, connection_window;
    int64_t ping_ms;
    struct http2_counts *counts; /* from its start to its stop */
};

struct http2_stream;

/** A head that came, as HTTP/1.1 has it but for the empty line, for all connections of a worker. */
struct http2_again {
    uint64_t number; /* of this one; 0: there is none */
    uint32_t len, method_len, target_len;
    bool takes_trailers;
    char text[HTTP2_AGAIN];
};

/** Memory of a stream that has ended, for another one. */
struct http2_spare {
    struct http2_spare *next;
};

struct http2_local {
    struct mk_worker *worker;
    struct http2_settings set;
    struct http2_counts *counts;
    struct http2_row *row; /* of counts */
    unsigned refs;         /* its configuration, and connections */
    struct h2_text spare;  /* memory for the next head that comes */
    struct http2_again again;
    struct http2_spare *streams; /* so many: */
    unsigned nstreams;
    const struct http2_stream *writing; /* whose head is in room; NULL: nobody's */
    char room[HTTP2_ROOM];
    struct h2_desk desk;
};

/** @return it with one reference; NULL without memory. */
struct http2_local *http2_local_new(struct mk_worker *worker,
                                    const struct http2_settings *set) MK_MUST_USE;
/** On its worker, or when that has ended. */
void http2_local_put(struct http2_local *local);

/** @return memory for a stream, zeroed; NULL: there is none. */
struct http2_stream *http2_local_stream(struct http2_local *local);
/** A stream has ended: its memory is freed, or kept for the next one. */
void http2_local_keep_stream(struct http2_local *local, struct http2_stream *s);

#endif
