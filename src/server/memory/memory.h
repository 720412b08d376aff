/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_MEMORY_MEMORY_H
#define MK_SERVER_MEMORY_MEMORY_H

#include "base/buf.h"
#include "core/loop.h"
#include "server/request/request.h"

#include <monkey/ask.h>

/* Requests from memory: a protocol without a connection (server/request/wire.h). <monkey/ask.h> is its face. */

/** A request, its question and its answer: owned by its worker from the post on. */
struct mk_memory {
    struct mk_post post;
    struct mk_watch watch; /* without a descriptor: it only runs soon */
    struct mk_timer timer; /* HandlerTimeout */
    struct mk_list link;   /* in its worker's list, while it is answered */
    struct mk_shared *shared;
    struct mk_worker *worker;
    mk_answer_fn fn;
    void *arg;
    struct mk_buf in;                   /* the question: head and body */
    size_t body_at;                     /* of in: what was not read of the body */
    struct mk_buf head, body, trailers; /* the answer */
    uint64_t waited_at;                 /* bytes of the answer when it began to wait */
    uint64_t held;                      /* bytes that are booked for it */
    int error;
    bool is_secure, is_running;
    bool is_body_large; /* above MaxBodySize when it was asked: not copied */
    struct mk_request request;
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

/** Give up all that a worker has under way. On its thread, or when that has ended. */
void mk_memory_end(struct mk_worker *w);

#endif
