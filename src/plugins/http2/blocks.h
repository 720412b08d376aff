/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP2_BLOCKS_H
#define HTTP2_BLOCKS_H

#include <nghttp2/nghttp2.h>

struct h2_block;

/**
 * The memory of one session. nghttp2 must not be called again for a session in which an allocation failed: it frees some
 * objects twice then. So a broken session is not deleted; its blocks are freed as they are.
 */
struct h2_blocks {
    nghttp2_mem mem; /* for nghttp2; it has a pointer to this object, which must not move */
    struct h2_block *first;
    size_t held; /* bytes of all of them */
};

void h2_blocks_init(struct h2_blocks *blocks);
/** Free what is left. */
void h2_blocks_free(struct h2_blocks *blocks);

#endif
