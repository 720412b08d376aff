/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_PROBLEM_H
#define MONKEY_WEB_PROBLEM_H

/*
 * Errors for programs: application/problem+json (RFC 9457). Clients that rather have HTML, as browsers do, get the page of the
 * site.
 *
 *     return mk_reply_problem(r, 409, "The item was sold", NULL);
 */

#include <monkey/web/json_read.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Answer with a problem, or as mk_reply_error if Accept prefers text/html or excludes JSON (RFC 9110 section 12.5.1).
 * @param title   short, the same for all problems of its kind; NULL: none
 * @param detail  what is wrong with this request; NULL: none. Not UTF-8 becomes U+FFFD
 */
MK_API enum mk_verdict mk_reply_problem(struct mk_request *r, unsigned status, const char *title,
                                        const char *detail);

/**
 * The verdict for a negative result of mk_request_json: as mk_reply_refusal, but answers are problems.
 * @param fault  of that call: a text that was refused gets its line, column and reason; NULL: none
 */
MK_API enum mk_verdict mk_reply_json_refusal(struct mk_request *r, int error,
                                             const struct mk_json_fault *fault) MK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
