/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_H1_ENDPOINT_H
#define MK_SERVER_H1_ENDPOINT_H

#include "core/addr.h"
#include "setup/snapshot.h"

#include <stdatomic.h>

/** What a connection sees of the address at which it was accepted. It outlives all connections. */
struct mk_endpoint {
    char text[MK_ADDR_TEXT]; /* the address, with the real port */
    /* What carries its connections: of the sides, the one that a worker's view names. A reload writes the other. */
    struct mk_via via[2];
    atomic_bool proxy; /* a PROXY protocol header comes first */
};

/** The site that a request of a connection is for, unless a name chooses another. @param side  of the view of the snapshot */
static inline const struct mk_site *mk_endpoint_site(const struct mk_endpoint *endpoint,
                                                     const struct mk_snapshot *s, bool side)
{
    const unsigned site = endpoint->via[side].site;

    return &s->sites[site > 0 ? site - 1 : s->usual];
}

#endif
