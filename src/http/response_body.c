/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/response.h>

#include "base/limits.h"
#include "http/h1_body.h"

/* How a body ends. What is complete has no more. */
enum kind { NO_MORE, LENGTH, CHUNKED, UNTIL_CLOSE };

static enum kind kind_of(const struct mk_response_head *h, bool request_was_head)
{
    if (request_was_head || h->status < 200 || h->status == 204 || h->status == 304)
        return NO_MORE;
    if (h->chunked)
        return CHUNKED;
    if (h->content_length > 0)
        return LENGTH;
    return h->content_length == 0 ? NO_MORE : UNTIL_CLOSE;
}

/* The decoder of messages is kept in the public struct between calls. */

static void keep(struct mk_body *b, const struct mk_h1_body *decoder)
{
    b->left = decoder->left;
    b->total = decoder->total;
    b->waste = decoder->waste;
    b->trailers = decoder->trailers;
    b->state = decoder->state;
}

static struct mk_h1_body decoder_of(const struct mk_body *b)
{
    return (struct mk_h1_body){
        .chunked = b->kind == CHUNKED,
        .lenient = b->lenient,
        .state = b->state,
        .left = b->left,
        .total = b->total,
        .max = UINT64_MAX,
        .waste = b->waste,
        .trailers = b->trailers,
        .max_trailers = MK_LIMIT_TRAILERS,
    };
}

void mk_body_init(struct mk_body *b, const struct mk_response_head *h, bool request_was_head)
{
    struct mk_h1_body decoder = {.state = 0};

    *b = (struct mk_body){.kind = (uint8_t)kind_of(h, request_was_head), .lenient = h->lenient};
    if (b->kind == CHUNKED)
        mk_h1_body_init_chunked(&decoder, UINT64_MAX);
    else if (b->kind == LENGTH)
        (void)!mk_h1_body_init_length(&decoder, (uint64_t)h->content_length, UINT64_MAX);
    keep(b, &decoder);
}

static int decode_framed(struct mk_body *b, char *buf, size_t *len, size_t *used)
{
    struct mk_h1_body decoder = decoder_of(b);
    int ret = mk_h1_body_decode(&decoder, buf, len, used);

    keep(b, &decoder);
    if (ret == 1)
        b->kind = NO_MORE;
    return ret;
}

int mk_body_decode(struct mk_body *b, char *buf, size_t *len, size_t *used)
{
    switch ((enum kind)b->kind) {
    case NO_MORE:
        *len = *used = 0;
        return 1;
    case UNTIL_CLOSE:
        *used = *len;
        b->total += *len;
        return MK_E_AGAIN;
    default:
        return decode_framed(b, buf, len, used);
    }
}

int mk_body_end(const struct mk_body *b)
{
    return b->kind == NO_MORE || b->kind == UNTIL_CLOSE ? 0 : MK_E_PEER;
}
