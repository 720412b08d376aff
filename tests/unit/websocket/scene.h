/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBSOCKET_SCENE_H
#define WEBSOCKET_SCENE_H

#include "websocket/ws_int.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* A connection on a stream that takes as many bytes as a test allows, with a server of two workers. */

enum { SCENE_ROOM = 8192, SCENE_WORKERS = 2 };

struct scene {
    struct mk_ws ws;
    struct mk_ws_spec spec;
    size_t credit;         /* bytes that the peer still takes */
    char sent[SCENE_ROOM]; /* what it took */
    size_t nsent;
    size_t held;    /* as was reported */
    bool is_broken; /* writes fail */
    bool is_shut;
    bool is_asked;   /* for an event soon */
    unsigned index;  /* of the worker that runs */
    bool has_ended;  /* the server */
    bool is_foreign; /* the worker is of another one */
    int nhandles;    /* of the server, not given back */
};

/** Make an open connection whose peer takes nothing. */
void scene_open(struct scene *s);
void scene_close(struct scene *s);
/** Let the peer take more, and send what waits. */
void scene_take(struct scene *s, size_t bytes);
/** Let the peer send a frame. */
void scene_feed(struct scene *s, unsigned first_byte, struct mk_str payload);
/** Compare all that the peer took since the last call. */
void scene_expect(struct scene *s, const void *bytes, size_t len);

#define SCENE_EXPECT(s, text) scene_expect(s, text, sizeof(text) - 1)

#endif
