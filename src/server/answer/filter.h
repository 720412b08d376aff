/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_ANSWER_FILTER_H
#define MK_SERVER_ANSWER_FILTER_H

#include "server/request/request.h"

#include <monkey/plugin.h>

/*
 * A body on its way through filters. The chain pulls: nothing is read from a source before the client takes
 * what the last filter gave, and each filter holds one piece at most. What a filter holds back itself (MK_FILTER_HOLDS) it
 * writes when the source has nothing for now.
 */

/** Behind those that were added before. @return 0, MK_E_NOMEM, or MK_E_LIMIT: too many. */
int mk_filter_add(struct mk_request *r, mk_filter_fn fn, void *state) MK_MUST_USE;

/** Reads what the first filter is given. @return as mk_produce_fn; MK_E_BUSY: there may be more in the next turn. */
typedef ssize_t (*mk_filter_source_fn)(struct mk_request *r, void *arg, char *dst, size_t len);

/**
 * What comes out of the last filter.
 * @return > 0; 0: the end; MK_E_BAD: the source or a filter failed; other errors: of the source.
 */
ssize_t mk_filter_pull(struct mk_request *r, mk_filter_source_fn source, void *arg, char *dst,
                       size_t len) MK_MUST_USE;

#endif
