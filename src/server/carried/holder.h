/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_CARRIED_HOLDER_H
#define MK_SERVER_CARRIED_HOLDER_H

#include "base/list.h"

struct mk_conn;

/** What a worker's budget (server/h1/budget.h) knows of whatever holds memory. */
struct mk_holding {
    struct mk_list link; /* in that, while it holds something */
    uint32_t held;       /* bytes, as that has them */
    uint32_t since_ms;   /* the loop's clock when it moved last */
};

/** One of the requests and tunnels of a connection. Zeroed before use. */
struct mk_holder {
    struct mk_holding holding;
    struct mk_conn *conn;
    void (*end)(struct mk_holder *h); /* MaxMemory is used up: it is to go */
};

#endif
