/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_REQUEST_REQUEST_STATE_H
#define MK_SERVER_REQUEST_REQUEST_STATE_H

#include "base/invariant.h"
#include "core/states.h"
#include "server/request/request.h"

/*
 * Where a request stands, in three tables: how it stands with its question, how far its answer is, how far its body is
 * read. Rows: X(NAME, name, states that may follow, sentence). A new request is in the first state of each.
 */

#define MK_ASKING_STATES(X)                                                                        \
    X(HEAD, head, TO(ASKED) | TO(OVER), "its head arrives")                                        \
    X(ASKED, asked, TO(ROUSED) | TO(PARKED) | TO(MOVED) | TO(DROPPED) | TO(OVER),                  \
      "hooks and handlers are asked, or one of them has answered")                                 \
    X(ROUSED, roused, TO(WOKEN) | TO(MOVED) | TO(DROPPED) | TO(OVER),                              \
      "the same; a hook that says LATER is asked again at once")                                   \
    X(PARKED, parked, TO(ASKED) | TO(WOKEN) | TO(MOVED) | TO(OVER), "a hook said LATER")           \
    X(WOKEN, woken, TO(ASKED) | TO(MOVED) | TO(OVER), "a hook said LATER and is asked again soon") \
    X(MOVED, moved, TO(ASKED) | TO(DROPPED) | TO(OVER),                                            \
      "it goes on under another path, for which all hooks are asked")                              \
    X(DROPPED, dropped, TO(OVER), "a hook wants its connection closed")                            \
    X(OVER, over, 0, "it has ended: no caller can change it any more")

enum mk_asking {
#define MK_STATE_ENUM(name, ...) MK_ASKING_##name,
    MK_ASKING_STATES(MK_STATE_ENUM)
#undef MK_STATE_ENUM
};

/** The rows of MK_ASKING_STATES. */
extern const struct mk_states mk_asking_states;

/** Log a change of a state of a traced request. */
void mk_request_trace(const struct mk_request *r, const struct mk_states *states, unsigned from,
                      unsigned to) __attribute__((cold));

/** Change one of the states of a request. The new state may follow the present one. */
static inline void mk_request_change(struct mk_request *r, const struct mk_states *states,
                                     uint8_t *state, unsigned to)
{
    MK_INVARIANT(mk_states_allow(states, *state, to));
    if (MK_UNLIKELY(r->traced > 0))
        mk_request_trace(r, states, *state, to);
    *state = (uint8_t)to;
}

/* ---- how it stands with its question ---- */

static inline void mk_asking_go(struct mk_request *r, enum mk_asking to)
{
    mk_request_change(r, &mk_asking_states, &r->asking, to);
}

/** Does it wait for a hook that said LATER? */
static inline bool mk_asking_is_parked(const struct mk_request *r)
{
    return r->asking >= MK_ASKING_PARKED && r->asking <= MK_ASKING_MOVED;
}

/** Is its hook to be asked again at once? */
static inline bool mk_asking_is_woken(const struct mk_request *r)
{
    return r->asking == MK_ASKING_WOKEN || r->asking == MK_ASKING_MOVED;
}

static inline bool mk_asking_is_over(const struct mk_request *r)
{
    return r->asking == MK_ASKING_OVER;
}

/** A hook says LATER. @param stage  enum mk_stage: in which it is asked again */
void mk_asking_park(struct mk_request *r, unsigned stage);
/** Something came that a hook may wait for. */
void mk_asking_wake(struct mk_request *r);
/** It waits for no hook any more. */
static inline void mk_asking_unpark(struct mk_request *r)
{
    if (mk_asking_is_parked(r))
        mk_asking_go(r, MK_ASKING_ASKED);
}

#endif
