/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/exchange.h"
#include "exchange/head.h"

#include "kit/text/words.h"

enum {
    END_LEN = 2,  /* the empty line at the end of a trailer section */
    LINE_LEN = 4, /* what mk_reply_trailer adds to name and value */
    TRAILERS_MAX =
        8192, /* that it takes, which is what may come; but a line may come without a blank */
};

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

void proxy_trailers_pass(struct proxy_exchange *x)
{
    struct proxy_buffer *b = x->trailers;
    struct mk_response_head lines = {.line = 0};
    struct mk_str name, value;
    size_t room = TRAILERS_MAX;
    unsigned count = 0;
    uint32_t at = 0;

    if (!b || b->end != x->body.trailers || b->end <= END_LEN)
        return;
    lines.fields_len = (uint32_t)(b->end - END_LEN);
    while (count++ < PROXY_TRAILED_MAX && mk_response_next(&lines, b->bytes, &at, &name, &value)) {
        size_t len = name.len + value.len + LINE_LEN;

        if (!proxy_may_trail(name) || text_is_front_order(name) || len > room)
            continue;
        room -= len;
        if (mk_reply_trailer(x->r, name, value) < 0)
            return; /* the answer is broken off */
    }
}

void proxy_trailers_of_call(struct proxy_exchange *x)
{
    struct mk_str lines = proxy_call_trailers(x->link.call);

    if (lines.len == 0 || !x->wants_trailers)
        return;
    proxy_trailers_take(x, lines.p, lines.len);
    x->body.trailers = (uint32_t)lines.len;
    proxy_trailers_pass(x);
}
