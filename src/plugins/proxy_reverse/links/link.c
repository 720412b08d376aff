/* SPDX-License-Identifier: Apache-2.0 */
#include "links/link.h"

/* It is called once, and may put the link then. */
static void call_back(struct proxy_link *l, bool fresh, int error)
{
    proxy_called_fn called = l->called;

    l->called = NULL;
    called(l->arg, fresh, error);
}

static void on_stream(void *arg, struct mk_stream *s, bool fresh, int error)
{
    struct proxy_link *l = arg;

    l->wait = NULL;
    l->stream = s;
    call_back(l, fresh, s ? 0 : error);
}

static void on_call(void *arg, bool fresh, int error)
{
    struct proxy_link *l = arg;

    if (error < 0)
        l->call = NULL;
    call_back(l, fresh, error);
}

int proxy_link_take(struct proxy_link *l, struct proxy_calls *calls, struct mk_worker *w,
                    const struct proxy_call_way *way, bool fresh, proxy_called_fn called, void *arg)
{
    int err;

    *l = (struct proxy_link){.upstream = way->upstream, .called = called, .arg = arg};
    err = calls ? proxy_call_begin(&l->call, calls, way, fresh, on_call, l)
                : mk_upstream_take(way->upstream, w, fresh, on_stream, l, &l->wait);
    if (err < 0)
        *l = (struct proxy_link){.upstream = NULL};
    return err;
}

void proxy_link_put(struct proxy_link *l, bool reusable)
{
    if (l->wait)
        mk_upstream_cancel(l->wait);
    if (l->stream)
        mk_upstream_give(l->upstream, l->stream, reusable);
    if (l->call)
        proxy_call_put(l->call);
    *l = (struct proxy_link){.upstream = NULL};
}

void proxy_link_tell(struct proxy_link *l, mk_stream_fn fn, void *arg)
{
    if (l->call)
        proxy_call_tell(l->call, fn, arg);
    else
        mk_stream_tell(l->stream, fn, arg);
}

void proxy_link_timeout(struct proxy_link *l, unsigned ms)
{
    if (l->call)
        proxy_call_timeout(l->call, ms);
    else
        mk_stream_timeout(l->stream, ms);
}

void proxy_link_run_soon(struct proxy_link *l)
{
    if (l->call)
        proxy_call_run_soon(l->call);
    else
        mk_stream_run_soon(l->stream);
}

const struct mk_stream *proxy_link_stream(const struct proxy_link *l)
{
    return l->call ? proxy_call_stream(l->call) : l->stream;
}

int proxy_link_fd(const struct proxy_link *l)
{
    return l->call ? -1 : mk_stream_fd(l->stream);
}

ssize_t proxy_link_read(struct proxy_link *l, char *dst, size_t len)
{
    return l->call ? proxy_call_read(l->call, dst, len) : mk_stream_read(l->stream, dst, len);
}

ssize_t proxy_link_write(struct proxy_link *l, const struct iovec *iov, int niov)
{
    return l->call ? proxy_call_write(l->call, iov, niov) : mk_stream_write(l->stream, iov, niov);
}

void proxy_link_shutdown(struct proxy_link *l)
{
    if (l->call)
        (void)!proxy_call_end_body(l->call, (struct mk_str){NULL, 0});
    else
        mk_stream_shutdown(l->stream);
}

size_t proxy_link_held(struct proxy_link *l)
{
    return l->call ? proxy_call_held(l->call) : 0;
}

bool proxy_link_is_over(const struct proxy_link *l)
{
    return l->call && proxy_call_is_over(l->call);
}

bool proxy_link_is_quiet(struct proxy_link *l)
{
    return l->call || mk_upstream_is_quiet(l->upstream, l->stream);
}

bool proxy_link_is_lost(const struct proxy_link *l)
{
    return !l->call || proxy_call_is_lost(l->call);
}

bool proxy_link_was_refused(const struct proxy_link *l)
{
    return l->call && proxy_call_was_refused(l->call);
}
