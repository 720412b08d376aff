/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_QUIET_H
#define KIT_QUIET_H

#include <monkey/request.h>

/*
 * A request that no access log needs, such as a health check every second. The plugin that answers says so, the plugin that
 * logs asks. Both know the key by this header; no object has its address.
 */

#define QUIET_KEY ((const void *)1)

/** Without memory the request is logged. */
static inline void quiet_set(struct mk_request *r)
{
    static char quiet;

    if (mk_request_keep(r, QUIET_KEY, &quiet) < 0)
        return;
}

static inline bool quiet_is(const struct mk_request *r)
{
    return mk_request_kept(r, QUIET_KEY) != NULL;
}

#endif
