/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_PROBLEM_H
#define MK_DUDA_PROBLEM_H

#include <monkey/web/json.h>

struct mk_duda_request;

/**
 * Begin an answer of response->problem(), to which members may be added: its object is open. Texts of a service are short; one
 * that is not UTF-8 gets U+FFFD.
 * @param rq      NULL: there is none
 * @param detail  NULL: none
 * @return 0; -1: the head was sent, or no such status; logged
 */
int mk_duda_problem_begin(struct mk_json *j, struct mk_duda_request *rq, int status,
                          const char *title, const char *detail);
/** End it, and the request. @return 0, -1. */
int mk_duda_problem_end(struct mk_json *j, struct mk_duda_request *rq);

#endif
