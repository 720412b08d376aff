/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_LINK_H
#define PROXY_LINK_H

#include "links/call.h"

/*
 * The way of a request to its backend: a connection of its own, which speaks HTTP/1, or a call over one that carries many
 * (HTTP/2). Either is written and read as HTTP/1 has it.
 */

struct proxy_link {
    struct mk_upstream *upstream;
    struct mk_upstream_wait *wait; /* for a connection; NULL: not waiting */
    struct mk_stream *stream;      /* NULL: none */
    struct proxy_call *call;       /* NULL: none, or HTTP/1 */
    proxy_called_fn called;        /* NULL: was called */
    void *arg;
};

/**
 * @param calls  NULL: HTTP/1
 * @param called once, unless it is put before; not inside this call. An error: the link is as it was before
 * @return 0, MK_E_BUSY, MK_E_NOMEM
 */
int proxy_link_take(struct proxy_link *l, struct proxy_calls *calls, struct mk_worker *w,
                    const struct proxy_call_way *way, bool fresh, proxy_called_fn called,
                    void *arg) MK_MUST_USE;
/** Give it back, or wait no more. @param reusable  as of mk_upstream_give. Nothing where there is none. */
void proxy_link_put(struct proxy_link *l, bool reusable);

/** Does it have a connection? */
static inline bool proxy_link_is_open(const struct proxy_link *l)
{
    return l->stream || (l->call && !l->called);
}

/** Are its bytes those of a connection of its own, with the framing of HTTP/1? */
static inline bool proxy_link_is_framed(const struct proxy_link *l)
{
    return !l->call;
}

/** Its connection, which a call shares with others; NULL: it has ended. */
const struct mk_stream *proxy_link_stream(const struct proxy_link *l);

/** As of mk_stream; events of calls have no stream. */
void proxy_link_tell(struct proxy_link *l, mk_stream_fn fn, void *arg);
void proxy_link_timeout(struct proxy_link *l, unsigned ms);
void proxy_link_run_soon(struct proxy_link *l);
int proxy_link_fd(const struct proxy_link *l);
ssize_t proxy_link_read(struct proxy_link *l, char *dst, size_t len) MK_MUST_USE;
ssize_t proxy_link_write(struct proxy_link *l, const struct iovec *iov, int niov) MK_MUST_USE;

/** As mk_stream_shutdown. */
void proxy_link_shutdown(struct proxy_link *l);
/** As of proxy_call_held; a connection of its own has none. */
size_t proxy_link_held(struct proxy_link *l);
/** Does its backend neither say nor take anything any more? Before that, putting a call away would cut it off. A connection of its own is closed when all has left. */
bool proxy_link_is_over(const struct proxy_link *l);

/** As mk_upstream_is_quiet; calls are. */
bool proxy_link_is_quiet(struct proxy_link *l) MK_MUST_USE;
/** Did its connection end? Else an end is of this request alone. */
bool proxy_link_is_lost(const struct proxy_link *l);
/** Was the request not looked at, as its backend says? */
bool proxy_link_was_refused(const struct proxy_link *l);

#endif
