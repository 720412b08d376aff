/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_H
#define WR_TRACE_H

#include "child.h"
#include "tree.h"

/**
 * Start wr-calls, which stands beside this program, for all processes of the target, and wait until it counts.
 * @param c  caller's; trace_end() in any case
 * @return false: it does not count; a reason was printed
 */
bool trace_begin(struct child *c, const struct tree *t);

/** @return what it counted, owned: an object of JSON, name and count; or NULL */
char *trace_end(struct child *c);

#endif
