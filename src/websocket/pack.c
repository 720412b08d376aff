/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/pack.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    LEVEL = Z_BEST_SPEED,
    LAST_BLOCK_WORK = 64,
    MEMORY_LEVEL = 5, /* 16 KB for hash chains; with a window of 4 KB 32 KB in all */
};

/* Section 7.2.1: what ends each message, and is not sent. */
static const unsigned char tail[4] = {0, 0, 0xff, 0xff};

struct ws_pack {
    struct ws_deflate agreed;
    z_stream out, in;
    bool has_out, has_in; /* the streams are open */
    unsigned ntail;       /* bytes of the tail that were given to `in` */
    size_t spent;         /* as ws_pack_spent returns it */
};

bool ws_pack_is_possible(void)
{
    return true;
}

struct ws_pack *ws_pack_new(const struct ws_deflate *agreed)
{
    struct ws_pack *p = calloc(1, sizeof(*p));

    if (p)
        p->agreed = *agreed;
    return p;
}

static void end_out(struct ws_pack *p)
{
    if (p->has_out)
        (void)deflateEnd(&p->out);
    p->has_out = false;
}

static void end_in(struct ws_pack *p)
{
    if (p->has_in)
        (void)inflateEnd(&p->in);
    p->has_in = false;
}

void ws_pack_free(struct ws_pack *p)
{
    if (!p)
        return;
    end_out(p);
    end_in(p);
    free(p);
}

bool ws_pack_is_shareable(const struct ws_pack *p)
{
    return !p->agreed.keeps_sent && p->agreed.sent_bits == WS_WINDOW_OURS;
}

/* ---- sending ---- */

static bool open_out(struct ws_pack *p)
{
    if (!p->has_out) {
        memset(&p->out, 0, sizeof(p->out));
        p->has_out = deflateInit2(&p->out, LEVEL, Z_DEFLATED, -p->agreed.sent_bits, MEMORY_LEVEL,
                                  Z_DEFAULT_STRATEGY) == Z_OK;
    }
    return p->has_out;
}

/* Room for all of it: what deflate() says, and the empty block that ends it. @return bytes; 0: no */
static size_t pack_into(struct ws_pack *p, struct mk_str message, char *room, size_t size)
{
    union {
        const char *from;
        Bytef *to;
    } in = {message.p};

    p->out.next_in = in.to;
    p->out.avail_in = (uInt)message.len;
    p->out.next_out = (Bytef *)room;
    p->out.avail_out = (uInt)size;
    if (deflate(&p->out, Z_SYNC_FLUSH) != Z_OK || p->out.avail_in > 0 || p->out.avail_out == 0)
        return 0;
    return size - p->out.avail_out - sizeof(tail);
}

int ws_pack_message(struct ws_pack *p, struct mk_str message, struct mk_str *packed)
{
    size_t size, len;
    char *room;

    if (message.len > UINT32_MAX / 2 || !open_out(p))
        return 0;
    size = deflateBound(&p->out, message.len) + 16;
    room = malloc(size);
    len = room ? pack_into(p, message, room, size) : 0;
    if (len == 0 || !p->agreed.keeps_sent || len >= message.len)
        end_out(p); /* a message that is not sent so leaves no trace in the client's window */
    if (len == 0 || len >= message.len) {
        free(room);
        return 0;
    }
    *packed = (struct mk_str){room, len};
    return 1;
}

void ws_pack_drop(struct mk_str packed)
{
    union {
        const char *from;
        void *to;
    } block = {packed.p};

    free(block.to);
}

void ws_pack_forget(struct ws_pack *p)
{
    end_out(p);
}

/* ---- receiving ---- */

static bool open_in(struct ws_pack *p)
{
    if (!p->has_in) {
        memset(&p->in, 0, sizeof(p->in));
        p->has_in = inflateInit2(&p->in, -p->agreed.received_bits) == Z_OK;
    }
    return p->has_in;
}

/*
 * Section 7.2.3.5: a block that says it is the last is not, and what comes next may refer to it. The window stays where it is:
 * with a copy of it for each such block, two bytes would cost as much as 64 KB.
 */
static bool go_on_behind_last_block(struct ws_pack *p)
{
    p->spent += LAST_BLOCK_WORK;
    return inflateResetKeep(&p->in) == Z_OK;
}

/* @return as inflate(); the tail follows the last piece */
static int unpack_some(struct ws_pack *p, struct mk_str *input, bool is_last)
{
    const bool is_tail = input->len == 0 && is_last;
    union {
        const void *from;
        Bytef *to;
    } in = {is_tail ? (const void *)(tail + p->ntail) : input->p};
    const size_t given = is_tail ? sizeof(tail) - p->ntail : input->len;
    int result;

    p->in.next_in = in.to;
    p->in.avail_in = (uInt)given;
    result = inflate(&p->in, Z_SYNC_FLUSH);
    if (is_tail)
        p->ntail += (unsigned)(given - p->in.avail_in);
    else
        *input = (struct mk_str){input->p + given - p->in.avail_in, p->in.avail_in};
    return result;
}

/* Otherwise the tail was taken for data. */
static bool is_between_blocks(const struct ws_pack *p)
{
    enum { BETWEEN = 128, BITS = 63 };

    return (p->in.data_type & BETWEEN) && !(p->in.data_type & BITS);
}

static int end_message(struct ws_pack *p)
{
    p->ntail = 0;
    if (!p->agreed.keeps_received)
        end_in(p);
    return 0;
}

int ws_unpack(struct ws_pack *p, struct mk_str *input, bool is_last, char dst[WS_UNPACKED_ROOM],
              size_t *len)
{
    int result;

    *len = 0;
    if (!open_in(p))
        return MK_E_NOMEM;
    p->in.next_out = (Bytef *)dst;
    p->in.avail_out = WS_UNPACKED_ROOM;
    for (;;) {
        result = unpack_some(p, input, is_last);
        if (result == Z_MEM_ERROR)
            return MK_E_NOMEM;
        if (result == Z_STREAM_END && !go_on_behind_last_block(p))
            return MK_E_NOMEM;
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
            return MK_E_BAD;
        *len = WS_UNPACKED_ROOM - p->in.avail_out;
        p->spent += *len;
        if (*len > 0)
            return 1;
        if (input->len > 0 && result != Z_BUF_ERROR)
            continue;
        if (!is_last)
            return MK_E_AGAIN;
        if (p->ntail == sizeof(tail))
            return is_between_blocks(p) ? end_message(p) : MK_E_BAD;
        if (result == Z_BUF_ERROR)
            return MK_E_BAD;
    }
}

size_t ws_pack_spent(struct ws_pack *p)
{
    size_t spent = p->spent;

    p->spent = 0;
    return spent;
}
