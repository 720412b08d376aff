/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_REQUEST_REQUEST_STATE_H
#define MK_SERVER_REQUEST_REQUEST_STATE_H

#include "base/code.h"
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

#define MK_ANSWERING_STATES(X)                                                                     \
    X(NONE, none, TO(HEAD) | TO(BROKEN), "there is no answer yet")                                 \
    X(HEAD, head, TO(NONE) | TO(FILTERS) | TO(BODY) | TO(BROKEN), "its head is being written")     \
    X(FILTERS, filters, TO(HEAD) | TO(BROKEN), "its head is with filters")                         \
    X(BODY, body, TO(STARVED) | TO(ENDED) | TO(CUT), "its head is complete, its body leaves")      \
    X(STARVED, starved, TO(BODY) | TO(CUT), "a source of its body has nothing for now")            \
    X(ENDED, ended, TO(BROKEN), "its connection has all of it")                                    \
    X(CUT, cut, 0, "broken off in its body: its connection closes")                                \
    X(BROKEN, broken, 0, "broken off before its body or after it: its connection closes")

#define MK_RECEIVING_STATES(X)                                                                     \
    X(NONE, none, TO(UNREAD), "it has no body, or its head arrives")                               \
    X(DONE, done, 0, "its whole body was read")                                                    \
    X(UNREAD, unread, TO(READING), "no byte of its body was asked for")                            \
    X(READING, reading, TO(DONE), "its handler reads its body, or the server skips it")

enum mk_asking {
#define MK_STATE_ENUM(name, ...) MK_ASKING_##name,
    MK_ASKING_STATES(MK_STATE_ENUM)
#undef MK_STATE_ENUM
};

enum mk_answering {
#define MK_STATE_ENUM(name, ...) MK_ANSWERING_##name,
    MK_ANSWERING_STATES(MK_STATE_ENUM)
#undef MK_STATE_ENUM
};

enum mk_receiving {
#define MK_STATE_ENUM(name, ...) MK_RECEIVING_##name,
    MK_RECEIVING_STATES(MK_STATE_ENUM)
#undef MK_STATE_ENUM
};

/** The rows of the tables. */
extern const struct mk_states mk_asking_states, mk_answering_states, mk_receiving_states;

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

/** For what each request goes through. */
static inline void mk_asking_change(struct mk_request *r, enum mk_asking to)
{
    mk_request_change(r, &mk_asking_states, &r->asking, to);
}

/** The same where few requests come, in fewer bytes. */
void mk_asking_go(struct mk_request *r, enum mk_asking to);

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

/* ---- how far its answer is ---- */

static inline void mk_answering_change(struct mk_request *r, enum mk_answering to)
{
    mk_request_change(r, &mk_answering_states, &r->answering, to);
}

void mk_answering_go(struct mk_request *r, enum mk_answering to);

/** Has its head been given away, to filters or to its client? There cannot be another answer. */
static inline bool mk_answering_is_settled(const struct mk_request *r)
{
    return r->answering >= MK_ANSWERING_FILTERS;
}

/** Is its head complete, and its body not? */
static inline bool mk_answering_is_open(const struct mk_request *r)
{
    return r->answering == MK_ANSWERING_BODY || r->answering == MK_ANSWERING_STARVED;
}

/** It cannot be finished any more. */
static inline bool mk_answering_is_broken(const struct mk_request *r)
{
    return r->answering >= MK_ANSWERING_CUT;
}

/** It will not be finished, wherever it stands. Harmless when it is broken off already. */
void mk_answering_break(struct mk_request *r);

/* ---- how far its body is read ---- */

MK_INSIDE void mk_receiving_go(struct mk_request *r, enum mk_receiving to);

/** Is there nothing of its body to come? */
static inline bool mk_receiving_is_done(const struct mk_request *r)
{
    return r->receiving <= MK_RECEIVING_DONE;
}

#endif
