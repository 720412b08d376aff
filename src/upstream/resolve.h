/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_UPSTREAM_RESOLVE_H
#define MK_UPSTREAM_RESOLVE_H

#include "base/limits.h"
#include "base/list.h"
#include "server/worker/extension.h"

#include <monkey/upstream.h>

#include <netinet/in.h>
#include <pthread.h>

/*
 * Names of a server's backends: a table shared by its workers behind one lock, which is held for
 * look-ups in memory only. Whoever asks for a name that is being looked up gets the answer before, if it is not very old,
 * or waits for the same answer.
 */

enum {
    MK_RESOLVE_FRESH_MS = 30000,
    MK_RESOLVE_FAILED_MS = 5000,
    MK_RESOLVE_DOUBT_MS = 1000, /* younger answers are not doubted */
};

/** Without port. */
union mk_host_address {
    struct sockaddr sa;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

/** Asks the system, which blocks. @return addresses found, > 0; or MK_E_NOENT, MK_E_AGAIN, MK_E_NOMEM. */
typedef int (*mk_lookup_fn)(const char *host,
                            union mk_host_address addresses[MK_LIMIT_RESOLVE_ADDRESSES]);

struct mk_resolver {
    struct mk_extension extension; /* of the server */
    mk_lookup_fn lookup;           /* the system's; a test's */
    pthread_mutex_t lock;
    struct mk_list names; /* under lock, as all below; used last: at the end */
    unsigned nnames, nwaiters;
};

/** @return that of these workers; NULL without memory. Any thread. */
struct mk_resolver *mk_resolver_of(struct mk_shared *shared);

/**
 * No address of a name could be connected to, so it may have moved: the next call of mk_resolve looks it up again and waits for
 * the answer. Answers younger than MK_RESOLVE_DOUBT_MS stay as they are.
 */
void mk_resolve_doubt(struct mk_worker *w, const char *host);

#endif
