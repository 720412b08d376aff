/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_LATER_H
#define MONKEY_WEB_LATER_H

/*
 * Requests that wait for answers of others, which come by callbacks on the request's worker: what <monkey/redis.h> and
 * clients of a program's own are made of.
 *
 *     err = mk_later_begin(&asked->later, r);         the handler asks somebody, and returns MK_VERDICT_LATER
 *     ...
 *     mk_later_answer(&asked->later, show, asked);    the answer has come: show(r, asked), unless the request has ended
 */

#include <monkey/request.h>

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_worker;

/** One answer that a request waits for: the caller's, who may forget it. Read and written by these calls alone. */
struct mk_later {
    struct mk_worker *worker;
    uint64_t ticket; /* 0: no request waits */
    bool has_begun;  /* the answer to the request, before the wait */
};

/**
 * Begin to wait for one more answer. HandlerTimeout counts, and mk_request_timeout changes it.
 * @param later  out: for one call of mk_later_answer or mk_later_drop. It may be copied; one of the copies is used
 * @return 0; MK_E_INVALID; MK_E_NOMEM; MK_E_EXISTS: a callback has answered the request.
 */
MK_API int mk_later_begin(struct mk_later *later, struct mk_request *r) MK_MUST_USE;

/**
 * The answer is there: call fn with the request, unless that has ended or has been answered meanwhile, by its handler, another
 * callback or a timeout. On the request's worker.
 * @param later  used up before fn is called, which may free it. Used up already: nothing is done
 * @param fn  answers the request and returns MK_VERDICT_DONE; or MK_VERDICT_LATER, if other answers are to come. Any other is logged
 *            and answered with 500. NULL: nothing is done, and the request waits as before
 * @return whether fn was called.
 */
MK_API bool mk_later_answer(struct mk_later *later,
                            enum mk_verdict (*fn)(struct mk_request *r, void *arg), void *arg);

/** No answer will come: nothing is called. Used up already: nothing is done. On the request's worker. */
MK_API void mk_later_drop(struct mk_later *later);

/**
 * @return whether the request waits for an answer, of whatever client. The handler is called again when more of an unread body arrives: it
 *         returns MK_VERDICT_LATER.
 */
MK_API bool mk_later_waits(const struct mk_request *r) MK_MUST_USE;

/**
 * The verdict for the result of a call that asks a server: answers MK_E_BUSY and MK_E_PEER with 503 and Retry-After, MK_E_TIMEOUT
 * with 504, MK_E_BAD and MK_E_EOF with 502, all else with 500.
 */
MK_API enum mk_verdict mk_reply_failure(struct mk_request *r, int error) MK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
