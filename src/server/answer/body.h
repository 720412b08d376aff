/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_ANSWER_BODY_H
#define MK_SERVER_ANSWER_BODY_H

#include "server/request/pump.h"
#include "server/request/request.h"

/* The body of an answer on its way: from its sources, through filters, to the protocol that carries the request. */

/**
 * Send from the request's sources, and end the body after the last one.
 * @param budget  bytes this turn may still send; lowered
 */
enum mk_pump mk_body_pump(struct mk_request *r, size_t *budget) MK_MUST_USE;

/**
 * The head is about to leave before the request's turn: let the first bytes of its body leave with it, if they lie in memory.
 * @param room  bytes at most
 */
void mk_body_gather(struct mk_request *r, size_t room);

/** Give up what sources hold. */
void mk_body_drop(struct mk_request *r);

/**
 * A file that was being sent became shorter than its head promised: somebody writes it in place.
 * @param id    of the connection or the request
 * @param file  of the table; NULL: of a plugin
 */
__attribute__((noinline, cold)) void mk_body_log_truncated(struct mk_worker *w, uint64_t id,
                                                           const struct mk_file *file);

/** Is nothing but the rest of one cached file to be sent, as it is? */
bool mk_body_is_tail(const struct mk_request *r);

#endif
