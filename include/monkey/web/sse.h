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
 * All calls are for the thread of the request's worker; other threads post to it (mk_worker_post). A stream is valid until
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

#ifdef __cplusplus
}
#endif

#endif
