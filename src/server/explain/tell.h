/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_EXPLAIN_TELL_H
#define MK_SERVER_EXPLAIN_TELL_H

#include "server/explain/explain.h"

/** Note the site, the location and the path of a request where they are new since the last call. */
void mk_explain_tell_place(struct mk_explain *e, struct mk_request *r);

/** The request has ended: note who answered, unless a plugin did, and the answer. @param lines  its fields */
void mk_explain_tell_end(struct mk_explain *e, struct mk_request *r, struct mk_str lines);

#endif
