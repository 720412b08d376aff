/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_ANSWER_HEAD_H
#define MK_SERVER_ANSWER_HEAD_H

#include "server/request/request.h"

/* Heads of answers on their way through the site's filters. */

/** A head that is complete but for its framing, in the gather buffer. */
struct mk_head {
    struct mk_reply *p;
    int64_t length; /* of the body to come; -1: not known */
};

/**
 * Let the site's on_head hooks see and change a head.
 * @param length  of the body; out: -1 when it will be filtered
 * @return 0; an error: of a hook, or MK_E_INVALID: it sent something else meanwhile.
 */
int mk_head_run(struct mk_reply *p, int64_t *length) MK_MUST_USE;

#endif
