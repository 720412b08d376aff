/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SERVER_WATCHER_H
#define TESTS_SERVER_WATCHER_H

#include "fixture.h"

#include <monkey/stream.h>

/** The owner of a stream: remembers what it is told, and reads what comes. */
struct watcher {
    struct mk_stream *s;
    struct fixture *f;
    unsigned told[64], ntold; /* in their order */
    unsigned all;             /* of them together */
    char in[256];
    size_t in_len;
    ssize_t end; /* of the last reading: 0, MK_E_AGAIN or MK_E_PEER */
    bool idle;   /* does not read */
    /* what it does inside an event with one of these bits: closes itself, and another */
    unsigned closes_on;
    struct watcher *closes;
};

/** An mk_stream_fn. */
void watcher_fn(struct mk_stream *s, unsigned events, void *arg);
/** Some turns of the loop without waiting. */
void watcher_turns(struct fixture *f);
/** Turns until it was told of one of these, at most two seconds. */
void watcher_wait(struct watcher *w, unsigned events);
void watcher_say(struct watcher *w, const char *text);

/** What waits on a non-blocking descriptor, as text: for one comparison. "-" at the end of input, "!" for an error. */
const char *peer_read(int fd);
void peer_say(int fd, const char *text);

#endif
