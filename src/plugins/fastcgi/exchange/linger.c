/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/exchange.h"

#include <stdlib.h>

enum {
    PIECE = 8 << 10,
    BYTES_MAX = 256 << 10, /* thrown away; an application that says more is not worth it */
    TIME_MS = 2000,
};

struct lingering {
    struct backend *backend;
    struct fcgi_reader reader;
    size_t thrown_away;
};

static void end(struct lingering *l, struct mk_stream *s, bool reusable)
{
    mk_upstream_give(l->backend->pool->upstream, s, reusable);
    fastcgi_backend_put(l->backend);
    free(l);
}

/* @return 1: END_REQUEST, and nothing behind it; 0: more; MK_E_BAD. */
static int skip(struct lingering *l, const char *buf, size_t len)
{
    struct mk_str piece;
    size_t from = 0, used;

    for (; from < len; from += used) {
        int what = fastcgi_read(&l->reader, buf + from, len - from, &used, &piece);

        if (what < 0)
            return what;
        if (what == FCGI_PIECE_END && from + used == len)
            return 1;
        if (what == FCGI_PIECE_END) {
            mk_upstream_distrust(l->backend->pool->upstream);
            return MK_E_BAD;
        }
    }
    l->thrown_away += len;
    return l->thrown_away <= BYTES_MAX ? 0 : MK_E_BAD;
}

static void on_lingering(struct mk_stream *s, unsigned events, void *arg)
{
    struct lingering *l = arg;
    char buf[PIECE];
    int what = 0;
    ssize_t n;

    if (events & (MK_IO_ERROR | MK_IO_TIMEOUT)) {
        end(l, s, false);
        return;
    }
    while (what == 0 && (n = mk_stream_read(s, buf, sizeof(buf))) != MK_E_AGAIN)
        what = n > 0 ? skip(l, buf, (size_t)n) : MK_E_PEER;
    if (what != 0)
        end(l, s, what > 0);
}

void fastcgi_linger(struct backend *backend, struct mk_stream *s, const struct fcgi_reader *reader)
{
    struct lingering *l = malloc(sizeof(*l));

    if (!l) {
        mk_upstream_give(backend->pool->upstream, s, false);
        return;
    }
    *l = (struct lingering){.backend = fastcgi_backend_get(backend), .reader = *reader};
    mk_stream_tell(s, on_lingering, l);
    mk_stream_timeout(s, TIME_MS);
    mk_stream_run_soon(s);
}
