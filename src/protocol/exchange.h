/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_PROTOCOL_EXCHANGE_H
#define MK_PROTOCOL_EXCHANGE_H

#include "base/buf.h"
#include "server/carried/carried.h"
#include "server/h1/job.h"

#include <monkey/protocol.h>

/*
 *     request       what hooks, handlers and filters see                   server/request/
 *        | wire     its operations: read, heads, bodies, end               server/request/wire.h
 *     carried       its turns, times and end, without HTTP/1               server/carried/
 *        |
 *     exchange      a request of a plugin's protocol, and its answer       here
 *        | carrier  the protocol's operations for it                       <monkey/protocol.h>
 *     protocol      the plugin: HTTP/2                                     plugins/http2/
 *        | events   its session's: a head, bytes, an end                   kit/h2/session.h
 *     session       frames, streams, windows                               kit/h2/
 *        | channel  reads and sends for it                                 kit/h2/channel.h
 *     stream        the connection's bytes                                 <monkey/stream.h>
 *
 * HTTP/1 has the first two alone; a question of a program (server/memory/) has a carried in place of a connection.
 */

/** A request that a plugin's protocol carries, and its answer, in a block of a job's size. <monkey/protocol.h> is its face. */
struct mk_exchange {
    struct mk_carried carried;
    const struct mk_carrier *carrier;
    void *arg;
    char *long_text; /* its head, where own_text is too short; heap */
    size_t long_size;
    char *dst; /* where the body goes, while it is pulled; NULL: it is not */
    size_t dst_left;
    struct mk_tunnel *tunnel; /* a handler took its stream; NULL: none did */
    struct mk_buf rest;       /* of a piece, for which dst had no room */
    size_t rest_at;
    bool is_over;    /* its end is known */
    bool is_broken;  /* by its protocol, which is not told */
    bool may_switch; /* 101 is an answer to it (RFC 8441) */
    char arena_start[MK_JOB_ARENA] __attribute__((aligned(16)));
    char own_text[];
};

enum { MK_EXCHANGE_TEXT = MK_INPUT_SIZE - offsetof(struct mk_exchange, own_text) };

extern const struct mk_wire mk_exchange_wire;

static inline struct mk_exchange *mk_exchange_of(const struct mk_request *r)
{
    return MK_CONTAINER_OF(mk_carried_of(r), struct mk_exchange, carried);
}

/** Is there something of a piece that dst had no room for? */
static inline bool mk_exchange_has_rest(const struct mk_exchange *x)
{
    return x->rest_at < x->rest.len;
}

/** mk_wire.take: its request is over soon, and a tunnel takes its place. */
int mk_exchange_take(struct mk_request *r, struct mk_stream **stream, mk_stream_fn fn, void *arg);
/** mk_wire.watch_taken */
int mk_exchange_watch_taken(const struct mk_request *r, mk_taken_fn fn, void *arg);
/** The request has ended: its protocol has the tunnel from now on. */
void mk_tunnel_open(struct mk_tunnel *t);

/** Copy as much as dst has room for. @return the number of bytes. */
size_t mk_exchange_put(struct mk_exchange *x, const char *bytes, size_t len);

#endif
