/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_CARRIED_HOLDER_H
#define MK_SERVER_CARRIED_HOLDER_H

#include "base/list.h"

struct mk_conn;

/** One of the requests and tunnels of a connection, as its worker's budget (server/h1/budget.h) knows it. Zeroed before use. */
struct mk_holder {
    struct mk_list link; /* in that, while it holds something */
    struct mk_conn *conn;
    uint32_t held;                    /* bytes, as that has them */
    uint32_t since_ms;                /* the loop's clock when it moved last */
    void (*end)(struct mk_holder *h); /* MaxMemory is used up: it is to go */
};

#endif
