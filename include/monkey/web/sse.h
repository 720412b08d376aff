/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_SSE_H
#define MONKEY_WEB_SSE_H

/*
 * Server-sent events (WHATWG HTML, section 9.2): an answer without an end, to which events are added as they happen.
 *
 *     static enum mk_verdict events(struct mk_request *r, void *arg)
 *     {
 *         const struct mk_sse_options options = {.size = sizeof(options), .on_end = forget, .arg = subscriber};
 *
 *         subscriber->last = mk_sse_last_id(r);
 *         if (mk_sse_open(r, &options, &subscriber->stream) < 0)
 *             return mk_reply_error(r, 503, NULL);
 *         return MK_VERDICT_DONE;
 *     }
 *
 * Calls with a stream are for the thread of the request's worker; other threads send to a group. A stream is valid until
 * on_end. A graceful stop of the server waits for open streams until its grace time ends: close them.
 */

#include <monkey/request.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_sse;

/** 0 stands for the value in brackets. */
struct mk_sse_options {
    size_t size;  /* sizeof(struct mk_sse_options) */
    size_t queue; /* bytes that may wait for a slow client [64 KB] */
    unsigned
        heartbeat_ms; /* a comment is sent after so long without an event, so that proxies keep the connection [15,000] */
    unsigned retry_ms; /* the client waits so long before it connects again [the client's choice] */
    void (*on_room)(struct mk_sse *s,
                    void *arg); /* after MK_E_BUSY: all that waited is sent; may be NULL */
    void (*on_end)(void *arg);  /* called once, after the end of the stream; may be NULL */
    void *arg;
    void (*on_head)(
        struct mk_reply *p,
        void *arg); /* called in mk_sse_open, to add lines with mk_reply_line; may be NULL */
};

/**
 * Answer with a stream of events: 200, text/event-stream, not to be stored. HandlerTimeout no longer holds.
 * @param options  borrowed for the call; NULL: all as in brackets
 * @return 0, and the hook returns MK_VERDICT_DONE; MK_E_NOMEM, or as mk_reply_begin: there is no stream, and on_end is not called.
 */
MK_API int mk_sse_open(struct mk_request *r, const struct mk_sse_options *options,
                       struct mk_sse **s) MK_MUST_USE;

/** An event. Texts are UTF-8, borrowed for the call; p NULL: without that line. */
struct mk_sse_event {
    size_t size;        /* sizeof(struct mk_sse_event) */
    struct mk_str type; /* without it the client calls it "message" */
    struct mk_str id;   /* the client sends the last one when it connects again; without NUL */
    struct mk_str data; /* several lines are allowed; p NULL: only the id is noted */
};

/**
 * Send an event, or queue it for a slow client.
 * @return 0; MK_E_BUSY: the queue is full, nothing was added, on_room will be called; MK_E_INVALID: the type or id has
 *         a line end or NUL, or the stream is closed; MK_E_LIMIT: the event is larger than the queue; MK_E_NOMEM.
 */
MK_API int mk_sse_send(struct mk_sse *s, const struct mk_sse_event *event) MK_MUST_USE;

/** End the stream after what was queued. on_end follows later. */
MK_API void mk_sse_close(struct mk_sse *s);

/** @return the last id that the client has seen, valid as long as the request's fields; {NULL, 0}: none. */
MK_API struct mk_str mk_sse_last_id(const struct mk_request *r);

/* ---- groups: streams on all workers, and events for all of them from any thread ---- */

struct mk_server;
struct mk_sse_group;

/**
 * What becomes of a stream whose client reads so slowly that its queue has no room for an event of a group. Either way the
 * queue holds whole events in their order, and nobody waits for it. A queue has to hold what is sent in a burst, before the
 * worker can write: mk_sse_options.queue. An event that is larger than the whole queue is sent if nothing waits before it: the
 * streams of the group share its bytes, which count for no stream's queue, nor for MaxMemory.
 */
enum mk_sse_slow {
    /*
     * It loses its place: it leaves all groups, and ends after what is queued. No event is missing before its end, and the
     * client connects again with the last id that it has seen.
     */
    MK_SSE_END,
    MK_SSE_SKIP, /* the event is left out for this client */
};

/** 0 stands for the value in brackets. */
struct mk_sse_group_options {
    size_t size; /* sizeof(struct mk_sse_group_options) */
    size_t
        queue; /* bytes of events that workers have not taken yet, with 64 more for each [1 MB] */
    enum mk_sse_slow slow; /* [MK_SSE_END] */
};

/**
 * Make a group of streams of this server; there may be many, and a stream may be in any number of them. Any thread, while the
 * server lives.
 * @param options  NULL: all as in brackets
 * @return 0, MK_E_INVALID or MK_E_NOMEM.
 */
MK_API int mk_sse_group_new(struct mk_sse_group **g, struct mk_server *server,
                            const struct mk_sse_group_options *options) MK_MUST_USE;
/** Give it back; streams stay open, and what is on its way arrives. Any thread, also after the server has ended. NULL is allowed. */
MK_API void mk_sse_group_free(struct mk_sse_group *g);

/**
 * Join; again is allowed and changes nothing. A stream leaves its groups when it is closed and when its client leaves, which
 * from now on it is seen to do at once (mk_request_ends_on_hangup). On the stream's worker.
 * @return 0; MK_E_INVALID: it is closed, or of another server; MK_E_NOMEM.
 */
MK_API int mk_sse_group_join(struct mk_sse_group *g, struct mk_sse *s) MK_MUST_USE;
/** Leave; what is queued is sent. On the stream's worker. */
MK_API void mk_sse_group_leave(struct mk_sse_group *g, struct mk_sse *s);

/**
 * Send an event to all members. Events of one thread arrive in their order; on_room is never called for them. Any thread, also
 * after the server has ended.
 * @return 0; MK_E_BUSY: the workers do not take events as fast as they are sent, so the group's queue is full; MK_E_LIMIT: it is
 *         larger than that queue; MK_E_INVALID: as for mk_sse_send; MK_E_NOMEM; MK_E_PEER: the server has ended: nobody gets it.
 */
MK_API int mk_sse_group_send(struct mk_sse_group *g, const struct mk_sse_event *event) MK_MUST_USE;
/** Close the streams of all members, after what was sent before, as for a graceful stop. Any thread. @return 0, MK_E_NOMEM or MK_E_PEER. */
MK_API int mk_sse_group_close(struct mk_sse_group *g);

struct mk_sse_group_facts {
    size_t size;             /* sizeof(struct mk_sse_group_facts) */
    size_t members;          /* streams now */
    unsigned long long slow; /* times that a client was too slow for an event */
};
/** Fill in facts. Any thread. */
MK_API void mk_sse_group_facts(const struct mk_sse_group *g, struct mk_sse_group_facts *facts);

#ifdef __cplusplus
}
#endif

#endif
