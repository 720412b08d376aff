/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPRESS_ANSWER_H
#define COMPRESS_ANSWER_H

#include "settings.h"
#include "stream.h"

/**
 * Compress an answer, if it is one to be compressed and its client wants it so. An answer that another client would get
 * compressed says so by Vary (RFC 9110 section 12.5.5).
 * @return 0, or the error of a filter: the answer is broken off.
 */
int compress_answer(struct mk_request *r, struct mk_head *head, const struct compress_settings *s,
                    struct compress_worker *w);

#endif
