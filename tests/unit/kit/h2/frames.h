/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_H2_FRAMES_H
#define TEST_H2_FRAMES_H

#include "kit/h2/frame.h"

#include <string.h>

/* Bytes of a peer. */

struct bytes {
    uint8_t p[1 << 17];
    size_t len;
};

static inline void put(struct bytes *b, const void *p, size_t len)
{
    if (len > 0)
        memcpy(b->p + b->len, p, len);
    b->len += len;
}

static inline void put_frame(struct bytes *b, unsigned type, unsigned flags, uint32_t id,
                             const void *payload, size_t len)
{
    const struct h2_frame f = {
        .length = (uint32_t)len, .id = id, .type = (uint8_t)type, .flags = (uint8_t)flags};

    b->len = (size_t)(h2_frame_write(b->p + b->len, &f) - b->p);
    put(b, payload, len);
}

static inline void put_begin(struct bytes *b)
{
    b->len = 0;
    put(b, H2_PREFACE, H2_PREFACE_LEN);
    put_frame(b, H2_SETTINGS, 0, 0, NULL, 0);
}

#endif
