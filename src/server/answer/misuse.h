/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_ANSWER_MISUSE_H
#define MK_SERVER_ANSWER_MISUSE_H

struct mk_request;

/**
 * A call that a plugin should not have made. The first of each request is logged; its connection closes after the
 * answer, and an answer whose head is settled already is broken off.
 * @param why  text that lives for the call
 * @param err  for the caller of the plugin
 * @return err
 */
int mk_misuse_log(struct mk_request *r, const char *why, int err);

#endif
