/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_BACKENDS_REPEAT_H
#define KIT_BACKENDS_REPEAT_H

#include <monkey/types.h>

#include <stdbool.h>

/*
 * May a request be sent again when its connection ended before the head of an answer was whole? The first row that fits
 * decides; the last one always does. A connection that was never made is not asked about: nothing was sent on it.
 */
#define BACKEND_REPEATS(X)                                                                         \
    X(was_heard, NEVER, "an answer had begun: the backend has acted on the request")               \
    X(lost_body, NEVER, "part of the body was sent and is not kept: it cannot be sent again")      \
    X(may_have_acted, NEVER,                                                                       \
      "some of it has left, and its method is not idempotent (RFC 9110 section 9.2.2)")            \
    X(was_idle, SAME,                                                                              \
      "the connection was kept, and closed while it was idle (RFC 9112 section 9.3.1): a new one") \
    X(was_last, NEVER, "as many backends failed as may be asked")                                  \
    X(any, OTHER, "another backend may answer")

enum backend_repeat {
    BACKEND_REPEAT_NEVER,
    BACKEND_REPEAT_SAME,  /* by a new connection to the same backend */
    BACKEND_REPEAT_OTHER, /* by another backend */
};

/** What is known when a connection ends. */
struct backend_loss {
    bool was_heard;     /* a byte of an answer came */
    bool has_left;      /* a byte of the request was written */
    bool is_idempotent; /* its method (RFC 9110 section 9.2.2) */
    bool keeps_body;    /* all of the body that was read is still here */
    bool is_fresh;      /* the connection cannot have been closed while it was idle */
    bool is_last;       /* no other backend may be asked after this one */
};

/** @param why  out: the sentence of the row; NULL is allowed */
enum backend_repeat backend_repeat(const struct backend_loss *loss, const char **why);
/** May a request of this method be acted on twice (RFC 9110 section 9.2.2)? */
bool backend_is_idempotent(struct mk_str method);

#endif
