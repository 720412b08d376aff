/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <nghttp2/nghttp2.h>
#include <string.h>

enum { HEAD = 9, PRIORITY = 5 };

void h2_watch_init(struct h2_watch *w)
{
    memset(w, 0, sizeof(*w));
    w->skip = sizeof(NGHTTP2_CLIENT_MAGIC) - 1;
    w->has_all_resets = true;
}

static uint32_t number(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t length_of(const struct h2_watch *w)
{
    return number(w->bytes) >> 8;
}

static int32_t stream_of(const struct h2_watch *w)
{
    return (int32_t)(number(w->bytes + 5) & 0x7fffffff);
}

/* RFC 9113 section 6.3; a stream that depends on itself: RFC 7540 section 5.3.1. */
static h2_fault judge_priority(const struct h2_watch *w)
{
    uint32_t id = (uint32_t)stream_of(w);

    if (id == 0)
        return NGHTTP2_PROTOCOL_ERROR;
    if (length_of(w) != PRIORITY)
        return NGHTTP2_FRAME_SIZE_ERROR;
    return w->got == HEAD + PRIORITY && (number(w->bytes + HEAD) & 0x7fffffff) == id
               ? NGHTTP2_PROTOCOL_ERROR
               : 0;
}

/* The bytes so far are a frame's head, or a whole frame of PRIORITY. @return its type; -1: its payload is looked at too. */
static int judge(struct h2_watch *w, h2_fault *fault)
{
    uint8_t type = w->bytes[3];

    if (type == NGHTTP2_PRIORITY) {
        *fault = judge_priority(w);
        if (*fault == 0 && w->got == HEAD)
            return -1;
    }
    w->is_end = type == NGHTTP2_RST_STREAM ||
                (type <= NGHTTP2_HEADERS && w->bytes[4] & NGHTTP2_FLAG_END_STREAM);
    w->has_ends = w->has_ends || w->is_end;
    w->idle += type == NGHTTP2_PRIORITY || type >= NGHTTP2_CONTINUATION;
    w->skip = length_of(w) - (w->got - HEAD);
    w->got = 0;
    return type;
}

static bool is_complete(const struct h2_watch *w)
{
    return w->got == HEAD || w->got == HEAD + PRIORITY;
}

size_t h2_watch_bytes(struct h2_watch *w, const uint8_t *bytes, size_t len, int32_t *id,
                      h2_fault *fault)
{
    size_t at = 0;

    *id = 0;
    while (at < len && *fault == 0 && *id == 0) {
        size_t n = w->skip < len - at ? w->skip : len - at;

        w->skip -= (uint32_t)n;
        at += n;
        if (at == len)
            break;
        w->bytes[w->got++] = bytes[at++];
        if (is_complete(w) && judge(w, fault) == NGHTTP2_DATA)
            *id = stream_of(w);
    }
    return at;
}

static bool has(const int32_t *ids, size_t count, int32_t id)
{
    for (size_t i = 0; i < count; i++) {
        if (ids[i] == id)
            return true;
    }
    return false;
}

h2_fault h2_watch_closed(const struct h2_watch *w, int32_t id, bool is_data)
{
    if (id <= 0 || id > w->newest || has(w->resets, H2_WATCH_RESETS, id))
        return 0;
    if (has(w->ends, H2_WATCH_ENDS, id))
        return NGHTTP2_STREAM_CLOSED;
    if (!w->has_all_resets) /* it may be one of those that are forgotten */
        return 0;
    return is_data ? NGHTTP2_STREAM_CLOSED : NGHTTP2_PROTOCOL_ERROR;
}

void h2_watch_end(struct h2_watch *w, int32_t id, bool is_ours)
{
    if (!is_ours) {
        w->ends[w->nends++ % H2_WATCH_ENDS] = id;
        return;
    }
    w->resets[w->nresets++] = id;
    if (w->nresets == H2_WATCH_RESETS) {
        w->nresets = 0;
        w->has_all_resets = false;
    }
}
