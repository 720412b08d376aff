/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_H2_FRAME_H
#define KIT_H2_FRAME_H

#include <stddef.h>
#include <stdint.h>

/* Frames of HTTP/2 (RFC 9113 section 4 and 6, RFC 9218 section 7.1): numbers, and how a head reads. */

enum h2_type {
    H2_DATA,
    H2_HEADERS,
    H2_PRIORITY,
    H2_RST_STREAM,
    H2_SETTINGS,
    H2_PUSH_PROMISE,
    H2_PING,
    H2_GOAWAY,
    H2_WINDOW_UPDATE,
    H2_CONTINUATION,
    H2_PRIORITY_UPDATE = 0x10,
};

enum h2_flag {
    H2_FLAG_ACK = 0x1, /* of SETTINGS and PING */
    H2_FLAG_END_STREAM = 0x1,
    H2_FLAG_END_HEADERS = 0x4,
    H2_FLAG_PADDED = 0x8,
    H2_FLAG_PRIORITY = 0x20,
};

/** RFC 9113 section 7. X(NAME, code) */
#define H2_ERRORS(X)                                                                               \
    X(NO_ERROR, 0x0)                                                                               \
    X(PROTOCOL_ERROR, 0x1)                                                                         \
    X(INTERNAL_ERROR, 0x2)                                                                         \
    X(FLOW_CONTROL_ERROR, 0x3)                                                                     \
    X(SETTINGS_TIMEOUT, 0x4)                                                                       \
    X(STREAM_CLOSED, 0x5)                                                                          \
    X(FRAME_SIZE_ERROR, 0x6)                                                                       \
    X(REFUSED_STREAM, 0x7)                                                                         \
    X(CANCEL, 0x8)                                                                                 \
    X(COMPRESSION_ERROR, 0x9)                                                                      \
    X(CONNECT_ERROR, 0xa)                                                                          \
    X(ENHANCE_YOUR_CALM, 0xb)                                                                      \
    X(INADEQUATE_SECURITY, 0xc)                                                                    \
    X(HTTP_1_1_REQUIRED, 0xd)

enum h2_error {
#define H2_ERROR_ENUM(name, code) H2_E_##name = (code),
    H2_ERRORS(H2_ERROR_ENUM)
#undef H2_ERROR_ENUM
};

/** RFC 9113 section 6.5.2, RFC 8441 section 3, RFC 9218 section 2.1. */
enum h2_setting {
    H2_SETTINGS_HEADER_TABLE_SIZE = 0x1,
    H2_SETTINGS_ENABLE_PUSH = 0x2,
    H2_SETTINGS_MAX_CONCURRENT_STREAMS = 0x3,
    H2_SETTINGS_INITIAL_WINDOW_SIZE = 0x4,
    H2_SETTINGS_MAX_FRAME_SIZE = 0x5,
    H2_SETTINGS_MAX_HEADER_LIST_SIZE = 0x6,
    H2_SETTINGS_ENABLE_CONNECT_PROTOCOL = 0x8,
    H2_SETTINGS_NO_RFC7540_PRIORITIES = 0x9,
};

#define H2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" /* RFC 9113 section 3.4 */

enum {
    H2_FRAME_HEAD = 9,    /* RFC 9113 section 4.1 */
    H2_FRAME_MAX = 16384, /* of a payload, either way: what everyone takes */
    H2_PREFACE_LEN = sizeof(H2_PREFACE) - 1,
    H2_WINDOW = 65535, /* before settings say otherwise (RFC 9113 section 6.9.2) */
    H2_SETTING = 6,    /* bytes of a setting */
};

#define H2_WINDOW_MAX INT32_MAX /* RFC 9113 section 6.9.1 */

struct h2_frame {
    uint32_t length, id; /* of the payload; of the stream, 0: the connection's */
    uint8_t type, flags;
};

/* ---- numbers ---- */

static inline uint32_t h2_number(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/** Of 31 bits; the one above is reserved. */
static inline uint32_t h2_number31(const uint8_t *p)
{
    return h2_number(p) & 0x7fffffff;
}

static inline uint8_t *h2_put_number(uint8_t *dst, uint32_t n)
{
    dst[0] = (uint8_t)(n >> 24);
    dst[1] = (uint8_t)(n >> 16);
    dst[2] = (uint8_t)(n >> 8);
    dst[3] = (uint8_t)n;
    return dst + 4;
}

/* ---- heads ---- */

static inline struct h2_frame h2_frame_read(const uint8_t head[H2_FRAME_HEAD])
{
    return (struct h2_frame){.length = h2_number(head) >> 8,
                             .id = h2_number31(head + 5),
                             .type = head[3],
                             .flags = head[4]};
}

/** @return the end of the head at dst. */
static inline uint8_t *h2_frame_write(uint8_t *dst, const struct h2_frame *f)
{
    (void)h2_put_number(dst, f->length << 8 | f->type);
    dst[4] = f->flags;
    return h2_put_number(dst + 5, f->id);
}

#endif
