/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPRESS_STREAM_H
#define COMPRESS_STREAM_H

#include "encoder.h"
#include "load.h"
#include "tally.h"

/* The compressed body of an answer under way, and what a worker has of them. */

/** Of one worker and configuration, on the worker's thread. */
struct compress_worker {
    struct tally *tally; /* borrowed from the configuration */
    size_t held;         /* the most memory that streams under way take */
    struct stream *streams,
        **end; /* that have an encoder's state, the one that has moved last at the end */
    struct load load;
};

struct stream;

/**
 * Room for so many bytes more: streams whose clients take nothing give their encoder's memory back, and get it again when they
 * go on. @return false: too many move.
 */
bool compress_make_room(struct compress_worker *w, struct mk_worker *of, size_t need,
                        size_t memory);

/**
 * Begin a stream, which ends with the request.
 * @param number  of compress_encoder_at
 * @param memory  that all streams of the worker may take when it goes on after a pause
 * @return NULL: no memory.
 */
struct stream *compress_stream_open(struct mk_request *r, struct compress_worker *w,
                                    struct mk_worker *of, unsigned number, unsigned level,
                                    size_t memory);

/** A mk_filter_fn. @param state  the stream */
int compress_stream_change(void *state, const char *in, size_t *in_len, char *out, size_t *out_len,
                           bool last);

#endif
