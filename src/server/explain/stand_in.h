/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_EXPLAIN_STAND_IN_H
#define MK_SERVER_EXPLAIN_STAND_IN_H

#include "server/explain/explain.h"

/*
 * A stand-in is a plugin whose hooks call those of a real one, or explain them. So the code that serves requests is as it
 * is, and has no branch for explanations.
 */

/** Put stand-ins in the place of all plugins of the snapshot. @return 0 or MK_E_NOMEM; mk_stand_ins_take in either case. */
int mk_stand_ins_put(struct mk_explain *e) MK_MUST_USE;

/** The snapshot is as before. */
void mk_stand_ins_take(struct mk_explain *e);

#endif
