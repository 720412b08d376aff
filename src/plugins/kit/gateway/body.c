/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/gateway/body.h"

enum {
    IN_MEMORY = 64 << 10,
    PIECE = 16 << 10,
    TURN = 256 << 10, /* gathered before others have their turn */
};

/* "Content-Length: 0", and not a length that is no longer meant. */
static bool announces_nothing(const struct mk_request *r)
{
    struct mk_str length = mk_request_header(r, MK_STR("Content-Length"));

    while (length.len > 0 && *length.p == '0') {
        length.p++;
        length.len--;
        if (length.len == 0)
            return true;
    }
    return false;
}

void gateway_body_init(struct gateway_body *b, const struct mk_request *r)
{
    struct mk_request_facts f = {.size = sizeof(f)};

    mk_request_facts(r, &f);
    *b = (struct gateway_body){.length = f.content_length,
                               .ended = f.content_length == 0,
                               .announced = f.content_length != 0 || announces_nothing(r)};
}

static enum mk_verdict refuse(struct mk_request *r, ssize_t err)
{
    switch (err) {
    case MK_E_PEER:
        return MK_VERDICT_CLOSE;
    case MK_E_BAD:
        return mk_reply_error(r, 400, NULL);
    case MK_E_LIMIT:
        return mk_reply_error(r, 413, NULL);
    case MK_E_NOMEM:
    case MK_E_NOFD:
        return mk_reply_error(r, 503, NULL);
    default:
        mk_request_log(r, MK_LOG_ERROR, "a request's body cannot be kept why=\"%s\"",
                       mk_error_text((int)err));
        return mk_reply_error(r, 500, NULL);
    }
}

enum mk_verdict gateway_body_gather(struct gateway_body *b, struct mk_request *r, const char *dir)
{
    char piece[PIECE];
    size_t gathered = 0;
    ssize_t n;

    if (b->length >= 0)
        return MK_VERDICT_PASS;
    if (!b->spool)
        b->spool = mk_spool_new(IN_MEMORY, INT64_MAX, dir); /* MaxBodySize bounds what is read */
    if (!b->spool)
        return refuse(r, MK_E_NOMEM);
    while ((n = mk_request_read(r, piece, sizeof(piece))) > 0) {
        int err = mk_spool_write(b->spool, piece, (size_t)n);

        if (err < 0)
            return refuse(r, err);
        gathered += (size_t)n;
        if (gathered >= TURN) {
            mk_request_resume(r);
            return MK_VERDICT_LATER;
        }
    }
    if (n == MK_E_AGAIN)
        return MK_VERDICT_LATER;
    if (n < 0)
        return refuse(r, n);
    b->length = (int64_t)mk_spool_size(b->spool);
    return MK_VERDICT_PASS;
}

ssize_t gateway_body_read(struct gateway_body *b, struct mk_request *r, char *dst, size_t len)
{
    ssize_t n;

    if (b->ended)
        return 0;
    n = b->spool ? mk_spool_read(b->spool, b->at, dst, len) : mk_request_read(r, dst, len);
    b->ended = n == 0;
    if (n > 0)
        b->at += (uint64_t)n;
    return n;
}

void gateway_body_fini(struct gateway_body *b)
{
    mk_spool_free(b->spool);
    b->spool = NULL;
}
