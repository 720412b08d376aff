/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_COMPAT_REPLY_H
#define MK_COMPAT_REPLY_H

#include <monkey/request.h>

/**
 * Begin an answer with field lines of the program.
 * @param lines   "Name: value" with or without line ends, which CR LF or LF separate. Fields of framing, and lines that are
 *                no fields, are logged and left out
 * @param length  of the body, in bytes; -1: unknown
 * @return 0; MK_E_INVALID: the status is no final one, nothing was sent and the caller answers; or as mk_reply_end.
 */
int mk_compat_reply(struct mk_request *r, unsigned status, struct mk_str lines,
                    int64_t length) MK_MUST_USE;

#endif
