/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP2_AHEAD_H
#define HTTP2_AHEAD_H

#include "kit/h2/channel.h"

/*
 * Bytes ahead of a response that is more urgent than those that leave (RFC 9218 section 10): what was written cannot be called
 * back. While several responses share a connection whose client takes no more, only as much is written ahead as leaves in 2 ms,
 * and 16 KB; otherwise as much as keeps calls few.
 */

struct http2_ahead {
    int64_t looked_ms; /* when what is under way was asked for */
    uint32_t unsent;   /* bytes that the kernel may hold and has not sent */
};

/** A connection begins. @param fd  its socket; one that is no TCP one has no bound */
void http2_ahead_begin(struct http2_ahead *a, int fd);
/** The kernel took no more: bound what is ahead. Two system calls each 50 ms at most, and none for responses one after the other. */
void http2_ahead_follow(struct http2_ahead *a, int fd, struct h2_channel *channel);

#endif
