/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TLS_CENSUS_H
#define KIT_TLS_CENSUS_H

#include "kit/counted/counted.h"

#include <monkey/plugin.h>

/* How many handshakes there were, over all workers; a reload keeps it. Next to a handshake an atomic addition costs nothing. */

enum tls_side { TLS_SIDE_CLIENT, TLS_SIDE_BACKEND, TLS_SIDES }; /* who is at the other end */

struct tls_census {
    struct counted refs;
    _Atomic uint64_t done[TLS_SIDES], failed[TLS_SIDES];
};

/** @return it with one reference; NULL without memory. */
struct tls_census *tls_census_new(void) MK_MUST_USE;
struct tls_census *tls_census_ref(struct tls_census *c);
/** NULL is allowed. Any thread. */
void tls_census_put(struct tls_census *c);

/** Count a handshake. @param c  NULL: nothing is counted */
static inline void tls_census_count(struct tls_census *c, enum tls_side side, bool done)
{
    if (c)
        atomic_fetch_add_explicit(done ? &c->done[side] : &c->failed[side], 1,
                                  memory_order_relaxed);
}

/** Metrics of a plugin. @param names  of the samples: handshakes that were done, that failed */
void tls_census_tell(const struct tls_census *c, const char *const names[2], mk_metric_fn tell,
                     void *arg);

#endif
