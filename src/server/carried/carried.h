/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_CARRIED_CARRIED_H
#define MK_SERVER_CARRIED_CARRIED_H

#include "base/invariant.h"
#include "base/code.h"
#include "core/loop.h"
#include "server/carried/holder.h"
#include "server/request/pump.h"
#include "server/request/request.h"

/*
 * A request that no connection of HTTP/1 carries: it goes on in turns of its own. Requests from memory (server/memory/) and
 * those of other protocols (src/protocol/) are made of it; what differs is their kind. It is part of a larger object.
 */

struct mk_carried;

struct mk_carried_kind {
    const struct mk_wire *wire;
    /** A turn is over. May book memory. @return 0; an error ends the request. NULL: nothing to do. */
    int (*after_turn)(struct mk_carried *c, enum mk_pump verdict);
    /** It has ended, and stage 40 has run; its request is still whole. @param error  0: its answer is complete */
    void (*tell)(struct mk_carried *c, int error);
    /** Free the whole object. */
    void (*free)(struct mk_carried *c);
};

struct mk_carried {
    struct mk_watch watch; /* without a descriptor: it only runs soon */
    struct mk_timer timer; /* how long its handler, or the sender of its body, may take */
    struct mk_list link;   /* of its worker's, while it is answered */
    const struct mk_carried_kind *kind;
    uint64_t waited_at;        /* bytes of both bodies that had moved when it began to wait */
    struct mk_holder holder;   /* moved when that began, or when it began to wait for its reader */
    int error;                 /* why its answer cannot be finished; 0: none is known */
    bool is_running;           /* its turn: whoever answers it now need not wake it */
    bool is_sender_waited_for; /* timer: for the body of the request, not for its handler */
    struct mk_request request;
};

static inline struct mk_carried *mk_carried_of(const struct mk_request *r)
{
    return MK_CONTAINER_OF((struct mk_request *)(uintptr_t)r, struct mk_carried, request);
}

/** Memory of a job's size for an object that a protocol makes, uninitialised. @return NULL without memory. */
MK_INSIDE void *mk_carried_block(struct mk_worker *w) MK_MUST_USE;
MK_INSIDE void mk_carried_free_block(struct mk_worker *w, void *block);
/** Before anything else. The object is zeroed. */
MK_INSIDE void mk_carried_init(struct mk_carried *c, const struct mk_carried_kind *kind);
/**
 * It is the worker's from now on, with the configuration in force.
 * @param id     for logs
 * @param start  first memory of the request's arena, which lives as long; NULL: none
 */
MK_INSIDE void mk_carried_begin(struct mk_carried *c, struct mk_worker *w, uint64_t id, void *start,
                                size_t size);
/**
 * Read its head, with the limits of HTTP/1, and ask hooks and handlers; or refuse it. Then its first turn runs.
 * @param head  a whole head as HTTP/1 text, which lives as long as the request
 * @param has_more  a body of unknown length follows
 * @param is_large  its body is above MaxBodySize, whatever its head says
 */
MK_INSIDE void mk_carried_route(struct mk_carried *c, struct mk_str head, bool has_more,
                                bool is_large);
/** A turn: hooks that wait are asked again, the answer goes on, or it ends. */
MK_INSIDE void mk_carried_run(struct mk_carried *c);
/** It ends now. @param error  0: its answer is complete. Otherwise the first error that is known is told */
MK_INSIDE void mk_carried_end(struct mk_carried *c, int error);
/** End all that a worker has under way. On its thread, or when that has ended. */
void mk_carried_end_all(struct mk_worker *w);

/* Parts of its wire. */

struct mk_buf;

enum { MK_CARRIED_TAIL = 64 }; /* of a head's room: Content-Length */

/** The rest of begin_head. @param room  of size bytes, the tail included; NULL: none. @return 0 or MK_E_PEER. */
MK_INSIDE int mk_carried_begin_head(struct mk_reply *p, char *room, size_t size);
/** Content-Length, where the length is known and not written yet; what has none may have trailers. @return the fields. */
MK_INSIDE struct mk_str mk_carried_end_head(struct mk_reply *p, int64_t length, bool has_content);
/** Append the trailers' lines of a body that has ended. @return 0 or the buffer's error. */
MK_INSIDE int mk_carried_put_trailers(const struct mk_request *r, struct mk_buf *to);
MK_INSIDE void mk_carried_wake(struct mk_request *r);
MK_INSIDE void mk_carried_renew_timeout(struct mk_request *r);
MK_INSIDE enum mk_pump mk_carried_flush(struct mk_request *r, bool more);

#endif
