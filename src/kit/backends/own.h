/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_BACKENDS_OWN_H
#define KIT_BACKENDS_OWN_H

#include <monkey/plugin.h>

struct backend_address {
    const char *name; /* as written */
    const char *host; /* a name, an address, or "unix:" and a path */
    unsigned port;
};

/** Warn of a backend that is an address of this server, which would ask itself. @param key  that names it, at this place */
void backend_warn_of_own(struct mk_setup *setup, const struct mk_origin *at, const char *key,
                         const struct backend_address *address);

#endif
