/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_ANSWER_BODY_H
#define MK_SERVER_ANSWER_BODY_H

#include "server/request/request.h"

/* The body of an answer on its way: from its sources, through framing, into what the connection sends. */

/**
 * Send from the request's sources, and the end of the framing behind the last one.
 * @param budget  bytes this turn may still send; lowered
 * @return 0: all is out or gathered; MK_E_AGAIN: wait for the peer; MK_E_BUSY: budget used up; MK_E_EOF: a
 *         source has nothing for now; MK_E_NOENT: a file became shorter; other: broken.
 */
int mk_body_pump(struct mk_conn *c, struct mk_request *r, size_t *budget) MK_MUST_USE;

/** Give up what sources hold. */
void mk_body_drop(struct mk_request *r);

/** Is nothing but the rest of one cached file to be sent, as it is? */
bool mk_body_is_tail(const struct mk_request *r);

#endif
