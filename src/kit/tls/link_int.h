/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TLS_LINK_INT_H
#define KIT_TLS_LINK_INT_H

#include "kit/tls/link.h"

/** Does anything that was written wait, here or in the worker's buffer? */
static inline bool tls_link_waits(const struct tls_link *t)
{
    return t->outlet.left_len > 0 || t->local->used > 0;
}

/** Go on with the handshake. @return 0: the link is open; MK_E_AGAIN, waits_for tells for what; MK_E_PEER. */
int tls_link_ready(struct mk_link *l) MK_MUST_USE;
/** Send what was written outside send; waits_for tells whether some of it waits. @return as tls_link_flush. */
int tls_link_flush_input(struct mk_link *l) MK_MUST_USE;

#endif
