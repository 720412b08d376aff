/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SERVER_HEARD_H
#define TESTS_SERVER_HEARD_H

#include "fixture.h"

#include <monkey/ask.h>

/* Requests from memory to a fixture's server, and what they are answered: no sockets, no threads. */

struct heard {
    unsigned calls; /* of the callback */
    int error;
    unsigned status;
    char trailers[256];
    char *fields, *body; /* with a NUL behind it */
    size_t body_len;
};

/** A GET for this target. */
struct mk_question heard_question(const char *target);
/** Ask only. h must stay until it is called. @return as mk_server_ask. */
int heard_ask(struct fixture *f, const struct mk_question *q, struct heard *h);
/** Turns of the worker's loop until there is an answer, or a bound. */
void heard_turns(struct fixture *f, const struct heard *h);
/** Ask and be answered. h is for heard_free. */
void heard_talk(struct fixture *f, const struct mk_question *q, struct heard *h);
/** GET a target with these field lines. h is for heard_free. */
void heard_get(struct fixture *f, const char *target, const char *fields, struct heard *h);
void heard_free(struct heard *h);

#endif
