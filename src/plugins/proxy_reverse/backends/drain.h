/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_DRAIN_H
#define PROXY_DRAIN_H

#include "entry/settings.h"

/*
 * A drained backend gets no more requests, but those of clients whose cookie names it (Sticky), so that it can be stopped when it
 * has none left. That is part of what is known of it: it goes on over reloads, and ends with the server. Any thread.
 */

/** @param i  less than the count of the entry's backends @param drains  false: it gets requests again */
void proxy_drain(const struct proxy_entry *entry, unsigned i, bool drains);
/** Are all backends of the entry drained? */
bool proxy_all_drained(const struct proxy_entry *entry);

#endif
