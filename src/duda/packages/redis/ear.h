/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REDIS_EAR_H
#define MK_DUDA_REDIS_EAR_H

#include "link.h"

#include "data/remote/backoff.h"

/* The channels that a worker hears by one client: a connection hears all of them, and is made anew when it is lost. */

struct redis_desk;

/* A channel that is heard. */
struct redis_sub {
    struct redis_sub *next;
    redis_message_fn fn;
    void *arg;
    char name[];
};

/** Zeroed at first, but for the pool. */
struct redis_ear {
    struct redis_desk *desk;
    struct redis_link *link; /* hears channels, and nothing else; NULL: none */
    struct redis_sub *subs;
    unsigned nsubs;
    unsigned server;    /* of the pool's, which is asked next */
    int64_t heard_ms;   /* when the server sent something */
    int64_t limit_ms;   /* until the connection must be ready */
    duda_timer_t *tick; /* while there is something to wait for */
    struct backoff backoff;
};

/** @return 0; -1: it is heard already, there are too many, or no memory */
int redis_ear_subscribe(struct redis_ear *ear, const char *channel, redis_message_fn fn, void *arg);
/** @return 0; -1: it is not heard */
int redis_ear_unsubscribe(struct redis_ear *ear, const char *channel);

/** Close the connection. Nothing is called. */
void redis_ear_end(struct redis_ear *ear);

#endif
