/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/text/words.h"
#include "service/answer.h"

#include <monkey/field.h>
#include <monkey/response.h>

#include <string.h>

enum { HEAD_MAX = 16 * 1024 };

/*
 * Of a service that writes its own head: the head is read as that of a backend, and framed anew, so that the connection stays
 * in step whatever the service wrote.
 */

/* The first bytes that are queued, as one text. */
static size_t gather_head(const struct mk_duda_request *rq, char *dst, size_t size)
{
    size_t len = 0;

    for (const struct mk_duda_chunk *c = rq->out.first; c && c->fd < 0 && len < size; c = c->next) {
        size_t n = c->len < size - len ? (size_t)c->len : size - len;

        memcpy(dst + len, c->bytes, n);
        len += n;
    }
    return len;
}

/* The head is not part of the body. */
static void skip(struct mk_duda_out *out, size_t len)
{
    out->queued -= len;
    for (struct mk_duda_chunk *c = out->first; c && len > 0; c = c->next) {
        size_t n = c->len < len ? (size_t)c->len : len;

        c->at += n;
        c->len -= n;
        len -= n;
    }
}

static void copy_fields(struct mk_duda_request *rq, const struct mk_response_head *head,
                        const char *text)
{
    struct mk_str name, value;
    uint32_t at = 0;

    while (mk_response_next(head, text, &at, &name, &value)) {
        if (!(mk_field_rules(name) & MK_RULE_MESSAGE))
            (void)mk_duda_answer_field(rq, name, value);
    }
}

int mk_duda_raw_read(struct mk_duda_request *rq)
{
    struct mk_response_head head = {0};
    char *text = mk_request_alloc(rq->r, HEAD_MAX);
    size_t len = text ? gather_head(rq, text, HEAD_MAX) : 0;
    ssize_t n = len > 0 ? mk_response_parse(&head, MK_RESPONSE_HTTP, text, len, HEAD_MAX) : 0;

    if (n <= 0) {
        mk_duda_log(rq->service, MK_LOG_ERROR, "%s: with headers_off() it printed no head: %s",
                    rq->callback, head.why ? head.why : "it is incomplete");
        rq->sr.headers.status = 500;
        skip(&rq->out, (size_t)rq->out.queued);
        return -1;
    }
    copy_fields(rq, &head, text);
    rq->sr.headers.status = (int)head.status;
    skip(&rq->out, (size_t)n);
    if (head.chunked)
        mk_duda_log(rq->service, MK_LOG_WARN, "%s: its chunks are sent as they are", rq->callback);
    return 0;
}
