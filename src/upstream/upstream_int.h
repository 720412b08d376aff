/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_UPSTREAM_UPSTREAM_INT_H
#define MK_UPSTREAM_UPSTREAM_INT_H

#include "core/loop.h"
#include "core/states.h"
#include "upstream/permits.h"

#include <monkey/upstream.h>

/*
 * A backend: permits for all workers (permits.h), and for each worker a lane with the connections that
 * it keeps. Connections never change lanes. Everything of a lane happens on its worker; others
 * reach it by posts whose memory is there before they are needed, so that a permit is never lost.
 */

/** A connection to the backend: idle, or its receiver's. */
struct mk_kept {
    struct mk_list link; /* while idle, in its lane; used last: at the end */
    struct mk_stream *stream;
    struct mk_lane *lane;
    unsigned uses;
    bool promised; /* idle no longer, but its receiver has not heard yet */
    bool dead;     /* it broke meanwhile */
};

struct mk_lane {
    struct mk_upstream *upstream;
    struct mk_worker *worker;
    unsigned index;
    struct mk_list idle;
    struct mk_post post;      /* mk_permit_lane.told: it is on its way */
    struct mk_address silent; /* did not answer in its time; asked last until silent_ms */
    int64_t silent_ms;
    struct mk_address failed; /* the last address that could not be connected to... */
    int failed_errno;         /* ...and why; 0: none was dialled since a wait began to connect */
    bool failed_protocol;     /* ...and it was the protocol to which the backend did not agree */
};

struct mk_upstream {
    struct mk_permits permits;
    _Atomic bool distrusted; /* it sent what nobody asked for: nothing is kept */
    _Atomic unsigned users;  /* the owner, waits, connections, posts to lanes */
    char *host, *transport, *name, *protocol;
    unsigned port, max_uses, connect_ms, idle_ms, queue_ms;
    struct mk_lane lanes[];
};

/* X(NAME, name, states that may follow, sentence) */
#define MK_WAIT_STATES(X)                                                                          \
    X(NEW, new, TO(QUEUED) | TO(PROMISED), "it asks for a permit")                                 \
    X(QUEUED, queued, TO(RESOLVING) | TO(SERVED) | TO(FAILED) | TO(LEFT), "all permits are taken") \
    X(PROMISED, promised, TO(RESOLVING) | TO(SERVED) | TO(FAILED) | TO(LEFT),                      \
      "a permit is there; it hears of it at the end of this turn")                                 \
    X(RESOLVING, resolving, TO(PAUSING) | TO(DIALLING) | TO(FAILED) | TO(LEFT),                    \
      "the name is being looked up")                                                               \
    X(PAUSING, pausing, TO(RESOLVING) | TO(DIALLING) | TO(FAILED) | TO(LEFT),                      \
      "the backend's queue is full: dialled again soon")                                           \
    X(DIALLING, dialling, TO(RESOLVING) | TO(PAUSING) | TO(SERVED) | TO(FAILED) | TO(LEFT),        \
      "an address is being connected to")                                                          \
    X(SERVED, served, 0, "its owner has a connection")                                             \
    X(FAILED, failed, 0, "its owner has an error")                                                 \
    X(LEFT, left, 0, "its owner does not wait any more; freed when what was begun comes back")

enum mk_wait_state {
#define MK_STATE_ENUM(name, ...) MK_WAIT_##name,
    MK_WAIT_STATES(MK_STATE_ENUM)
#undef MK_STATE_ENUM
};

/** The rows of MK_WAIT_STATES. */
extern const struct mk_states mk_wait_states;

struct mk_upstream_wait {
    struct mk_permit_wait permit;
    struct mk_post post;
    struct mk_timer timer; /* queue_ms, then connect_ms */
    int64_t deadline_ms;   /* of connecting; 0: none */
    struct mk_lane *lane;
    mk_upstream_fn fn;
    void *arg;
    struct mk_kept *kept; /* promised; or being dialled; NULL: none yet */
    struct mk_address *addresses;
    int naddresses, next;
    uint64_t id;      /* in traces */
    bool asked_again; /* no address could be connected to, so the name was looked up once more */
    uint8_t state;
};

void mk_upstream_get(struct mk_upstream *u);
void mk_upstream_put(struct mk_upstream *u);

/** Change the state of a wait; nothing else does. The new state is the present one, or may follow it. */
void mk_wait_go(struct mk_upstream_wait *wait, enum mk_wait_state to);

/** A permit is free: bring it to its heir; NULL: there is none. */
void mk_upstream_promise(struct mk_permit_wait *heir);

/* ---- upstream_connect.c ---- */

/** A permit came: connect, then one of the two below. */
void mk_wait_connect(struct mk_upstream_wait *wait);
/** Its pause is over. */
void mk_wait_redial(struct mk_upstream_wait *wait);

/* ---- upstream.c ---- */

/** wait->kept is connected: tell whoever waited, and free the wait. */
void mk_wait_connected(struct mk_upstream_wait *wait);
/** The permit goes on; tell whoever waited, and free the wait. */
void mk_wait_fail(struct mk_upstream_wait *wait, int error);
/** Nobody waits any more, and what was begun came back. */
void mk_wait_forget(struct mk_upstream_wait *wait);
/** 0: none. */
void mk_wait_set_timer(struct mk_upstream_wait *wait, unsigned ms);

#endif
