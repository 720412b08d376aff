/* SPDX-License-Identifier: Apache-2.0 */
#include "compat/bytes.h"

#include <stdlib.h>

enum { PIECE = 16 << 10 };

/* One more byte for the NUL. */
static bool make_room(struct mk_compat_bytes *b, size_t len)
{
    size_t room = b->room ? b->room : 256;
    char *p;

    if (len >= SIZE_MAX / 4 - b->len)
        return false;
    while (room < b->len + len + 1)
        room *= 2;
    if (room == b->room)
        return true;
    p = realloc(b->p, room);
    if (!p)
        return false;
    b->p = p;
    b->room = room;
    return true;
}

bool mk_compat_bytes_add(struct mk_compat_bytes *b, const char *p, size_t len)
{
    if (!make_room(b, len))
        return false;
    if (len > 0)
        memcpy(b->p + b->len, p, len);
    b->len += len;
    b->p[b->len] = '\0';
    return true;
}

void mk_compat_bytes_free(void *bytes)
{
    struct mk_compat_bytes *b = bytes;

    free(b->p);
    *b = (struct mk_compat_bytes){0};
}

static enum mk_verdict refuse(struct mk_request *r, ssize_t err)
{
    if (err == MK_E_PEER)
        return MK_VERDICT_CLOSE;
    return mk_reply_error(r, err == MK_E_LIMIT ? 413 : err == MK_E_BAD ? 400 : 503, NULL);
}

enum mk_verdict mk_compat_body(struct mk_compat_bytes *b, struct mk_request *r)
{
    for (;;) {
        ssize_t len;

        if (!make_room(b, PIECE))
            return refuse(r, MK_E_NOMEM);
        len = mk_request_read(r, b->p + b->len, PIECE);
        if (len == 0)
            return MK_VERDICT_PASS;
        if (len == MK_E_AGAIN) {
            mk_request_hold(r, b->room);
            return MK_VERDICT_LATER;
        }
        if (len < 0)
            return refuse(r, len);
        b->len += (size_t)len;
        b->p[b->len] = '\0';
    }
}
