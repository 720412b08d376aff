/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_BACKEND_RESOLVE_H
#define MK_SERVER_BACKEND_RESOLVE_H

#include "base/list.h"

#include <monkey/upstream.h>

#include <netinet/in.h>
#include <pthread.h>

/*
 * Names of a server's backends: a table shared by its workers behind one lock, which is held for
 * look-ups in memory only. Whoever asks for a name that is being looked up gets the answer before, if it is not very old,
 * or waits for the same answer.
 */

enum {
    MK_RESOLVE_ADDRESSES = 16, /* of one name */
    MK_RESOLVE_FRESH_MS = 30000,
    MK_RESOLVE_FAILED_MS = 5000,
};

/** Without port. */
union mk_host_address {
    struct sockaddr sa;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

/** Asks the system, which blocks. @return addresses found, > 0; or MK_E_NOENT, MK_E_AGAIN, MK_E_NOMEM. */
typedef int (*mk_lookup_fn)(const char *host,
                            union mk_host_address addresses[MK_RESOLVE_ADDRESSES]);

struct mk_resolver {
    mk_lookup_fn lookup; /* the system's; a test's */
    pthread_mutex_t lock;
    struct mk_list names; /* under lock, as all below; used last: at the end */
    unsigned nnames, nwaiters;
};

void mk_resolver_init(struct mk_resolver *r);
/** After the offload pool has ended and all posts were delivered. */
void mk_resolver_fini(struct mk_resolver *r);

#endif
