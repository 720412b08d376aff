/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_MEMORY_MEMORY_H
#define MK_SERVER_MEMORY_MEMORY_H

#include "base/buf.h"
#include "server/carried/carried.h"

#include <monkey/ask.h>

/* Requests from memory: a protocol without a connection (server/request/wire.h). <monkey/ask.h> is its face. */

/** A request, its question and its answer: owned by its worker from the post on. */
struct mk_memory {
    struct mk_carried carried;
    struct mk_post post;
    struct mk_shared *shared;
    struct mk_worker *worker;
    mk_answer_fn fn;
    void *arg;
    struct mk_buf in;                   /* the question: head and body */
    size_t body_at;                     /* of in: what was not read of the body */
    struct mk_buf head, body, trailers; /* the answer */
    uint64_t held;                      /* bytes that are booked for it */
    bool is_secure;
    bool is_body_large; /* above MaxBodySize when it was asked: not copied */
};

extern const struct mk_wire mk_memory_wire;

/**
 * mk_server_ask.
 * @param waits  the caller waits for fn: MK_E_PEER unless the server is running
 */
int mk_memory_ask(struct mk_server *server, const struct mk_question *question, mk_answer_fn fn,
                  void *arg, bool waits) MK_MUST_USE;

/** Book what it holds now. @return false: it holds more than before, and all together too much (MaxMemory). */
bool mk_memory_weigh(struct mk_memory *m) MK_MUST_USE;

#endif
