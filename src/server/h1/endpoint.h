/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_H1_ENDPOINT_H
#define MK_SERVER_H1_ENDPOINT_H

#include "core/addr.h"
#include "setup/settings.h"

#include <stdatomic.h>

/** What a connection sees of the address at which it was accepted. It outlives all connections. */
struct mk_endpoint {
    char text[MK_ADDR_TEXT]; /* the address, with the real port */
    /* What carries its connections: of the sides, the one that a worker's view names. A reload writes the other. */
    struct mk_via via[2];
    atomic_bool proxy; /* a PROXY protocol header comes first */
};

#endif
