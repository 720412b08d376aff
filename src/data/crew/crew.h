/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DATA_CREW_CREW_H
#define MK_DATA_CREW_CREW_H

#include <monkey/events.h>

#include <pthread.h>
#include <stdatomic.h>

/* What each worker of a server has of a client of a program. The workers are known when the first of them asks. */

struct crew {
    struct mk_server_handle *server; /* whose workers these are */
    unsigned n;
    void *seats
        []; /* of each worker, which alone reads and writes it; NULL: it has asked nothing yet */
};

struct crew_place {
    pthread_mutex_t lock;
    _Atomic(struct crew *) crew; /* NULL: no worker has asked anything; made under lock */
};

void crew_init(struct crew_place *place);
/** After the workers have ended, also after their server has. @param end  for each seat that is not NULL */
void crew_fini(struct crew_place *place, void (*end)(void *seat));

/** @param seat  out: where this worker has its own. @return 0; MK_E_INVALID: the place is another server's, be it one that has ended; MK_E_NOMEM */
int crew_seat(struct crew_place *place, struct mk_worker *w, void ***seat);

#endif
