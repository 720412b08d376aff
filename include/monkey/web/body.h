/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_BODY_H
#define MONKEY_WEB_BODY_H

/*
 * The body of a request as one text.
 *
 *     err = mk_request_body(r, 65536, &body);
 *     if (err < 0)
 *         return mk_reply_refusal(r, err);
 */

#include <monkey/request.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Gather the body. Call it again, with the same max, when the hook is called again after MK_VERDICT_LATER; after the end it
 * gives the same text. Bytes that were read by mk_request_read are not among it.
 * @param max   bytes; a longer body is an error, at once if its length was announced
 * @param body  out: terminated, until the request ends; counted by mk_request_hold. Empty without a body
 * @return 0; MK_E_AGAIN: return MK_VERDICT_LATER; MK_E_LIMIT; MK_E_NOMEM; or as mk_request_read.
 */
MK_API int mk_request_body(struct mk_request *r, size_t max, struct mk_str *body) MK_MUST_USE;

/**
 * The verdict for a negative result of a call of this library that reads a request: MK_E_AGAIN waits; MK_E_PEER closes; the
 * others are answered: MK_E_LIMIT with 413, MK_E_BAD and MK_E_INVALID with 400, MK_E_UNSUPPORTED with 415, MK_E_BUSY with 503 and Retry-After,
 * all else with 500.
 */
MK_API enum mk_verdict mk_reply_refusal(struct mk_request *r, int error) MK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
