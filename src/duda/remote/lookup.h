/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REMOTE_LOOKUP_H
#define MK_DUDA_REMOTE_LOOKUP_H

#include "remote/address.h"

/*
 * For packages with sockets of their own: where a host is after it has moved. A look-up does not block, and its answer comes
 * on the worker, to a later connection. Answers are at most 30 seconds old.
 */

struct lookup;
struct mk_worker;

/**
 * Ask for the addresses of a name, unless it is being asked already. Of several the one after the present address is
 * taken, so that an address that does not accept connections is followed by the next.
 * @param own    NULL while none is under way; the caller's, as long as lookup_abandon() has not been called
 * @param host   copied
 * @param place  what changes when an answer comes; likewise
 */
void lookup_begin(struct lookup **own, struct mk_worker *w, const char *host, unsigned port,
                  struct address *place);

/** Nothing changes any more. */
void lookup_abandon(struct lookup **own);

#endif
