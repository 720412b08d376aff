/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_H2_CHANNEL_H
#define KIT_H2_CHANNEL_H

#include "kit/h2/session.h"

#include <monkey/events.h>
#include <monkey/stream.h>

/* A session over a stream: bytes in, frames out, for whoever owns both. */

enum {
    H2_CHANNEL_IN = 16384,
    H2_CHANNEL_OUT = 4 * (H2_FRAME_HEAD + H2_FRAME_MAX),
};

/** What the channels of one worker share. Pages that no byte passed cost nothing. */
struct h2_desk {
    struct h2_out out;       /* of the channel that has an event; empty between any two */
    struct h2_growth growth; /* of their windows */
    struct h2_kept kept;     /* of their heads */
    char fields[HPACK_FIELD_MAX];
    uint8_t in[H2_CHANNEL_IN];
    char bytes[H2_CHANNEL_OUT];
};

static inline bool h2_desk_promise(void *worker, int64_t bytes)
{
    return mk_worker_promise(worker, bytes);
}

static inline void h2_desk_init(struct h2_desk *desk, struct mk_worker *worker)
{
    desk->out = (struct h2_out){.p = desk->bytes, .cap = sizeof(desk->bytes)};
    desk->growth = (struct h2_growth){h2_desk_promise, worker};
    desk->kept.number = desk->kept.len = 0;
}

struct h2_channel {
    struct h2_desk *desk;
    struct mk_stream *stream;
    struct h2_session session;
    struct h2_text left; /* bytes that the kernel did not take; its sum is the owner's */
    uint32_t
        most; /* bytes gathered for one call, a frame and its heads at least; 0: H2_CHANNEL_OUT */
    int64_t moved_ms;  /* when the peer last took bytes, or a wait for it began */
    bool is_busy;      /* inside an event: what is written leaves at its end */
    bool has_received; /* bytes came since its owner looked; the owner's to clear */
    bool has_ended;    /* its peer sends no more */
    bool is_paused;    /* nothing is read before the peer takes what waits */
    bool is_lost;      /* its stream is broken, or memory is missing: it is to be closed */
};

/** An event begins: frames are written where they leave from. */
void h2_channel_begin(struct h2_channel *c, int64_t now_ms);
/**
 * Read and give the session what came, up to 64 KB; then it is asked again soon. Nothing while 256 KB wait for a peer that
 * takes none: windows bound bodies, but not heads. Streams that closed are swept.
 */
void h2_channel_receive(struct h2_channel *c);
/** Sweep, write and send, up to 256 KB; then it is asked again soon. */
void h2_channel_send(struct h2_channel *c);
/** An event ends. */
void h2_channel_end(struct h2_channel *c);
/** There is something to send: soon, unless an event is under way that does so. */
void h2_channel_wake(struct h2_channel *c);
/** Has everything left that is to leave? */
bool h2_channel_is_flushed(const struct h2_channel *c);
/** Its stream is going to be closed: nothing is written any more. */
void h2_channel_fini(struct h2_channel *c);

#endif
