/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TLS_PACE_H
#define KIT_TLS_PACE_H

#include <monkey/types.h>

/*
 * How large the next record is. A browser can use a record when its last byte is there, so what begins after a
 * pause, when the network still sends a few packets a round trip, goes in small records; a long body
 * in the largest, which cost least (RFC 8446 section 5.1).
 */

enum {
    TLS_RECORD_MAX = 16384,
    TLS_RECORD_SMALL = 4096,
    TLS_PACE_SMALL_BYTES = 32 << 10, /* of a body that leave in small records after a pause */
    TLS_PACE_PAUSE_MS = 1000,
};

struct tls_pace {
    int64_t last_ms; /* when bytes left last */
    uint32_t sent;   /* since the last pause; stops counting at TLS_PACE_SMALL_BYTES */
};

/**
 * @param left  bytes that are to leave now, > 0
 * @param more  and others behind them; what fits into one record and is all goes in one
 * @return bytes for the next record; they are counted as sent.
 */
static inline size_t tls_pace_next(struct tls_pace *p, int64_t now_ms, size_t left, int more)
{
    size_t n = left < TLS_RECORD_MAX ? left : TLS_RECORD_MAX;

    if (now_ms - p->last_ms >= TLS_PACE_PAUSE_MS)
        p->sent = 0;
    p->last_ms = now_ms;
    if (p->sent < TLS_PACE_SMALL_BYTES) {
        if ((more || left > TLS_RECORD_MAX) && n > TLS_RECORD_SMALL)
            n = TLS_RECORD_SMALL;
        p->sent += (uint32_t)n;
    }
    return n;
}

#endif
