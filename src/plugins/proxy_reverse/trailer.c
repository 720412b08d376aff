/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange.h"
#include "head.h"

/* The empty line at the end of a trailer section. */
enum { END_LEN = 2 };

void proxy_trailers_take(struct proxy_exchange *x, const char *bytes, size_t len)
{
    struct proxy_buffer *b = x->trailers;

    if (!b)
        b = x->trailers = proxy_buffer_get(&x->home->buffers, PROXY_BUFFER);
    if (!b || len > b->size - b->end) /* a body may do without them */
        return;
    memcpy(b->bytes + b->end, bytes, len);
    b->end += len;
}

/* Not what says how a message is framed, routed or understood: RFC 9110 section 6.5.1. */
static bool may_trail(struct mk_str name)
{
    static const struct mk_str never[] = {
        MK_STR_INIT("Content-Encoding"), MK_STR_INIT("Content-Range"), MK_STR_INIT("Content-Type"),
        MK_STR_INIT("Cache-Control"),    MK_STR_INIT("Location"),      MK_STR_INIT("Set-Cookie"),
    };

    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        if (proxy_has_token(name, never[i]))
            return false;
    }
    return !proxy_is_hop_by_hop(name);
}

void proxy_trailers_pass(struct proxy_exchange *x)
{
    struct proxy_buffer *b = x->trailers;
    struct mk_response_head lines = {.line = 0};
    struct mk_str name, value;
    uint32_t at = 0;

    if (!b || b->end != x->body.trailers || b->end <= END_LEN)
        return;
    lines.fields_len = (uint32_t)(b->end - END_LEN);
    while (mk_response_next(&lines, b->bytes, &at, &name, &value)) {
        if (may_trail(name) && mk_reply_trailer(x->r, name, value) < 0)
            return; /* the answer is broken off */
    }
}
