/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_REQUEST_TICKET_H
#define MK_SERVER_REQUEST_TICKET_H

#include <monkey/request.h>

/*
 * Names for requests that may be over when somebody comes back to them. A ticket holds the worker, a
 * place in that worker's table and how many tickets were given before it, so that finding is O(1) and a
 * ticket that has ended never finds somebody else's request.
 */
struct mk_ticket_slot {
    struct mk_request *request; /* NULL: free */
    uint32_t serial;
    uint32_t next_free;
};

struct mk_tickets {
    struct mk_ticket_slot *slots; /* heap */
    uint32_t nslots, first_free, serial;
};

void mk_tickets_init(struct mk_tickets *t);
void mk_tickets_fini(struct mk_tickets *t);

/** The request has ended. */
void mk_ticket_end(struct mk_request *r);

#endif
