/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CGI_POOL_H
#define CGI_POOL_H

#include <monkey/events.h>

/*
 * How many scripts run at once, over all workers, and who waits for a place. One mutex; nothing is called under it.
 */

struct uploads;

struct pool {
    void *lock; /* pthread_mutex_t, in pool.c */
    unsigned max, used, max_waiting, nwaiting;
    struct place *first, **last; /* who waits, the longest first */
    uint64_t granted, refused;   /* places since the start; requests for which too many waited */
    struct uploads *uploads;     /* that hold places; its owner's. NULL: none */
};

enum place_state { PLACE_NONE, PLACE_WAITS, PLACE_GRANTED, PLACE_HELD };

/** One for whom a place is wanted: a member of something larger. */
struct place {
    struct place *next, **link;
    struct pool *pool;
    struct mk_worker *worker;
    void (*granted)(
        struct place *
            place); /* on the worker: it is held now, or nobody wants it any more and it is given back */
    enum place_state state;
    bool unwanted;
};

struct pool *cgi_pool_new(void);
void cgi_pool_free(struct pool *pool);
struct pool_facts {
    unsigned used, waiting;
    uint64_t granted, refused;
};
/** Any thread. */
void cgi_pool_facts(struct pool *pool, struct pool_facts *facts);

/** Who waits now. Any thread. */
unsigned cgi_pool_waiting(struct pool *pool);
/** New bounds, for who comes from now on. Any thread. */
void cgi_pool_bound(struct pool *pool, unsigned max, unsigned max_waiting);

/**
 * Take a place.
 * @param place  zeroed but for worker and granted
 * @return 0: it is held; MK_E_AGAIN: granted will be called; MK_E_BUSY: too many wait.
 */
int cgi_pool_take(struct pool *pool, struct place *place) MK_MUST_USE;
/**
 * It is not wanted any more, in whatever state it is.
 * @return true: granted will not be called; false: it will, once, and the memory is to live till then.
 */
bool cgi_pool_leave(struct place *place);

#endif
