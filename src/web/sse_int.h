/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_SSE_INT_H
#define WEB_SSE_INT_H

#include "base/buf.h"
#include "kit/counted/counted.h"

#include <monkey/web/sse.h>

struct group_member;

/** Events as they are sent, which streams of a group share. */
struct mk_sse_text {
    struct counted refs;
    struct mk_buf buf;
};

struct mk_sse {
    struct mk_request *r;
    struct mk_worker *worker;
    struct group_member *groups;   /* NULL: in none */
    struct mk_sse_options options; /* without zeros */
    struct mk_sse_text *large; /* waits before the queue, which is too small for it; NULL: none */
    size_t large_sent;
    struct mk_buf queue;
    size_t sent;
    struct mk_alarm *heartbeat;
    bool is_closed;
    bool wants_room; /* somebody was told that it is full */
    bool was_quiet;  /* no event since the last heartbeat was set */
};

/** Add the text of an event to b, whose error says whether it had room. @return 0; MK_E_INVALID: it is none, and nothing was added. */
int mk_sse_format(struct mk_buf *b, const struct mk_sse_event *event);

/**
 * Queue an event of others; one that is larger than the queue waits by itself, if nothing else does. @return as mk_sse_send, but
 * nobody awaits room.
 */
int mk_sse_share(struct mk_sse *s, struct mk_sse_text *text);

/** Give back a text. */
void mk_sse_text_put(struct mk_sse_text *text);

#endif
