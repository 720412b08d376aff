/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_PROXY_NO_CALLS_H
#define TEST_PROXY_NO_CALLS_H

#include "links/call.h"

#include <stdlib.h>

/* For tests whose backends speak HTTP/1: no call is ever made. */

int proxy_call_begin(struct proxy_call **call, struct proxy_calls *calls,
                     const struct proxy_call_way *way, bool fresh, proxy_called_fn called,
                     void *arg)
{
    (void)call, (void)calls, (void)way, (void)fresh, (void)called, (void)arg;
    abort();
}

void proxy_call_put(struct proxy_call *c)
{
    (void)c;
    abort();
}

void proxy_call_tell(struct proxy_call *c, mk_stream_fn fn, void *arg)
{
    (void)c, (void)fn, (void)arg;
    abort();
}

ssize_t proxy_call_read(struct proxy_call *c, char *dst, size_t len)
{
    (void)c, (void)dst, (void)len;
    abort();
}

ssize_t proxy_call_write(struct proxy_call *c, const struct iovec *iov, int niov)
{
    (void)c, (void)iov, (void)niov;
    abort();
}

int proxy_call_end_body(struct proxy_call *c, struct mk_str trailers)
{
    (void)c, (void)trailers;
    abort();
}

size_t proxy_call_held(struct proxy_call *c)
{
    (void)c;
    abort();
}

bool proxy_call_is_over(const struct proxy_call *c)
{
    (void)c;
    abort();
}

struct mk_str proxy_call_trailers(const struct proxy_call *c)
{
    (void)c;
    abort();
}

void proxy_call_timeout(struct proxy_call *c, unsigned ms)
{
    (void)c, (void)ms;
    abort();
}

void proxy_call_run_soon(struct proxy_call *c)
{
    (void)c;
    abort();
}

bool proxy_call_is_lost(const struct proxy_call *c)
{
    (void)c;
    return true;
}

bool proxy_call_was_refused(const struct proxy_call *c)
{
    (void)c;
    abort();
}

#endif
