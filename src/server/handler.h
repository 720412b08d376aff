/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_HANDLER_H
#define MK_SERVER_HANDLER_H

#include <monkey/types.h>

#include <stdbool.h>

struct mk_request;

/** What a handler says to a request. */
enum mk_verdict {
    MK_VERDICT_PASS,  /* not mine: ask the next one, or serve the file */
    MK_VERDICT_DONE,  /* I answered, or the reply's sources will */
    MK_VERDICT_LATER, /* ask me again when more of the request's body is there */
};

struct mk_handler {
    const char *name;
    bool reads_body; /* a client that expects 100 is told to send before on_request is called */
    /** Called when the head is complete, and again after LATER, on the connection's worker. */
    enum mk_verdict (*on_request)(struct mk_request *r);
};

/** A built-in handler by its name in [HANDLERS], in any case; NULL when there is none. */
const struct mk_handler *mk_handler_find(struct mk_str name);

#endif
