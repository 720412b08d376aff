/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

enum { IN_MEMORY = 32768, IN_ALL = 16 << 20, PIECE = 16384 };

static enum mk_verdict refuse(struct mk_request *r, ssize_t error)
{
    switch (error) {
    case MK_E_LIMIT:
        return mk_reply_error(r, 413, NULL);
    case MK_E_BAD:
        return mk_reply_error(r, 400, NULL);
    case MK_E_PEER:
        return MK_VERDICT_CLOSE;
    default:
        return mk_reply_error(r, 503, NULL);
    }
}

enum mk_verdict body_keep(struct mk_request *r, struct mk_spool **body)
{
    char piece[PIECE];
    ssize_t n;

    if (!*body && !(*body = mk_spool_new(IN_MEMORY, IN_ALL, "/tmp")))
        return refuse(r, MK_E_NOMEM);
    while ((n = mk_request_read(r, piece, sizeof(piece))) > 0) {
        int err = mk_spool_write(*body, piece, (size_t)n);

        if (err < 0)
            return refuse(r, err);
    }
    if (n == MK_E_AGAIN)
        return MK_VERDICT_LATER;
    return n < 0 ? refuse(r, n) : MK_VERDICT_PASS;
}
