/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHEETAH_RELOAD_H
#define CHEETAH_RELOAD_H

#include "reply.h"

/* How a reload went that a session has asked for. */

struct mk_worker;

/** How many there were when it was asked for. */
struct reload {
    uint64_t done, failed;
};

/** Note it, before asking. */
void cheetah_reload_note(struct reload *reload, const struct mk_worker *w);

/** Has one ended since? */
bool cheetah_reload_has_ended(const struct reload *reload, const struct mk_worker *w);

/** Complete a reply that has begun: done or failed, with what was found wrong, or that nothing is known yet. */
void cheetah_reload_tell(const struct reload *reload, const struct mk_worker *w, struct reply *r);

#endif
