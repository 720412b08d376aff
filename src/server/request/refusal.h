/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_REQUEST_REFUSAL_H
#define MK_SERVER_REQUEST_REFUSAL_H

#include "http/h1_head.h"

/*
 * The two tables of endings. Why a request was refused: name, status, sentence; the faults of a head
 * (http/h1_head.h) have their statuses here too. Why a connection was closed: name, whether it is an
 * error, sentence. Each row has a counter in every worker.
 */
#define MK_REFUSALS(X)                                                                             \
    X(BODY_LARGE, 413, "request body larger than MaxBodySize")                                     \
    X(BODY_BAD, 400, "malformed request body")                                                     \
    X(HEAD_SLOW, 408, "request head not complete within Timeout")                                  \
    X(BODY_SLOW, 408,                                                                              \
      "request body made no progress within BodyTimeout, or was slower than MinRate")              \
    X(PATH_BAD, 400, "malformed escape or NUL in the path")                                        \
    X(PATH_ABOVE, 403, "path climbs above the root")                                               \
    X(PATH_LONG, 414, "path too long")                                                             \
    X(DOT_FILE, 403, "dot file")                                                                   \
    X(LINK, 403, "not readable, or below a symbolic link")                                         \
    X(NOT_FOUND, 404, "no such file")                                                              \
    X(NO_INDEX, 403, "directory without index file")                                               \
    X(METHOD, 405, "method not allowed here")                                                      \
    X(METHOD_UNKNOWN, 501, "method not implemented")                                               \
    X(PRECONDITION, 412, "a precondition failed")                                                  \
    X(RANGE, 416, "no satisfiable range")                                                          \
    X(REROUTED, 500, "fallback files lead back to each other")                                     \
    X(NO_MEMORY, 503, "out of memory")                                                             \
    X(NO_DESCRIPTOR, 503, "out of file descriptors")                                               \
    X(READ, 500, "file cannot be read")                                                            \
    X(HANDLER, 500, "handler failed")                                                              \
    X(HANDLER_SLOW, 500, "handler did not answer within HandlerTimeout")                           \
    X(CHOSEN, 0, "status chosen by the configuration")

enum mk_refusal {
    MK_REFUSAL_NONE,
#define MK_REFUSAL_ENUM(name, status, text) MK_REFUSAL_##name,
    MK_REFUSALS(MK_REFUSAL_ENUM)
#undef MK_REFUSAL_ENUM
        MK_REFUSAL_COUNT
};

unsigned mk_refusal_status(enum mk_refusal refusal);
const char *mk_refusal_text(enum mk_refusal refusal);

/** The status that answers a bad head. */
unsigned mk_fault_status(enum mk_h1_fault fault);

#define MK_CLOSES(X)                                                                               \
    X(DONE, false, "answered, and client or server asked for the close")                           \
    X(PEER_LEFT, false, "peer closed between requests")                                            \
    X(PEER_CUT, true, "peer closed or reset during a request")                                     \
    X(IDLE, false, "no further request within KeepAliveTimeout")                                   \
    X(SILENT, true, "no byte of a request within Timeout")                                         \
    X(REFUSED, true, "request refused")                                                            \
    X(STALLED, true, "peer did not read within WriteTimeout, or read slower than MinReadRate")     \
    X(LINGERED, false, "peer did not stop sending in time")                                        \
    X(TRUNCATED, true, "a file became shorter while it was sent")                                  \
    X(SOURCE, true, "a source of the answer failed")                                               \
    X(NO_MEMORY, true, "out of memory")                                                            \
    X(PROXY, true, "missing or untrusted PROXY header")                                            \
    X(TRANSPORT, true, "its transport failed at the start")                                        \
    X(DENIED, true, "a plugin refused or closed it")                                               \
    X(CROWDED, true, "its address has MaxConnectionsPerIP connections")                            \
    X(MEMORY, true, "made room: MaxMemory was used up, and it held most for longest")              \
    X(SHED, true, "made room: its address had the most connections")                               \
    X(STOPPING, false, "server stops")

enum mk_close {
#define MK_CLOSE_ENUM(name, is_error, text) MK_CLOSE_##name,
    MK_CLOSES(MK_CLOSE_ENUM)
#undef MK_CLOSE_ENUM
        MK_CLOSE_COUNT
};

const char *mk_close_name(enum mk_close reason);
const char *mk_close_text(enum mk_close reason);
bool mk_close_is_error(enum mk_close reason);

/* ---- the counters: one row for each refusal, each fault of a head and each close ---- */

enum {
    MK_REASON_HEAD = MK_REFUSAL_COUNT - 1, /* first of the faults */
    MK_REASON_CLOSED = MK_REASON_HEAD + MK_H1_FAULT_COUNT - 1,
    MK_REASON_COUNT = MK_REASON_CLOSED + MK_CLOSE_COUNT,
};

static inline unsigned mk_reason_of_refusal(enum mk_refusal refusal)
{
    return (unsigned)refusal - 1;
}

static inline unsigned mk_reason_of_fault(enum mk_h1_fault fault)
{
    return MK_REASON_HEAD + (unsigned)fault - 1;
}

static inline unsigned mk_reason_of_close(enum mk_close reason)
{
    return MK_REASON_CLOSED + (unsigned)reason;
}

/** "refused.NOT_FOUND", "head.TARGET_LONG", "closed.IDLE"; static. */
const char *mk_reason_name(unsigned row);

#endif
