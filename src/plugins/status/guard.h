/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATUS_GUARD_H
#define STATUS_GUARD_H

#include "kit/nets/nets.h"

#include <monkey/plugin.h>

/* Who may ask: addresses, networks, and clients of unix sockets. */

struct guard {
    struct net *nets; /* of the settings' memory */
    size_t nnets;
    bool has_unix;
};

/**
 * Read the words of a key. Each one that is no network is a fault at `at`.
 * @return 0 or MK_E_NOMEM.
 */
int status_guard_read(struct mk_setup *setup, const struct mk_words *words, const char *key,
                      const struct mk_origin *at, struct guard *guard) MK_MUST_USE;

/** @param c  NULL: a request of the program itself, which is admitted. */
bool status_guard_admits(const struct guard *guard, const struct mk_conn *c);

#endif
