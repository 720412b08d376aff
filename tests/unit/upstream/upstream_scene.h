/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SERVER_UPSTREAM_SCENE_H
#define TESTS_SERVER_UPSTREAM_SCENE_H

#include "fixture.h"

#include "upstream/upstream_int.h"

/* Connections to a backend of the test, from workers whose loops are turned by hand. */

enum { WORKERS = 2, PEERS = 64 };

/** One for a program: the functions below mean it. */
extern struct scene {
    struct plan plan;
    char dir[32], host[64]; /* the backend's socket is a file in the first */
    struct mk_server *server;
    struct mk_worker *workers[WORKERS];
    struct mk_upstream *u;
    int listener, peers[PEERS]; /* of the backend; a peer it ended is -1 */
    unsigned npeers;
    long live; /* mk_heap_live before all */
} scene;

/** Before and after each test. The second fails it when memory was lost. */
int scene_setup(void **state);
int scene_teardown(void **state);
/** Where no host is said it is the backend's socket. */
void scene_open(struct mk_upstream_options o);
/** Some turns of each worker's loop, without waiting. */
void scene_turn(void);
void scene_assert_load(unsigned open, unsigned idle, unsigned waiting);

/** Let the backend listen on an address instead; a negative backlog: it has the port, and refuses. @return the port. */
unsigned backend_listen_tcp(int backlog);
/** @return how many connections the backend has seen in all. */
unsigned backend_accept(void);
void backend_close_peers(void);
/** Has the other side of this connection been closed? */
bool backend_sees_end(unsigned peer);
void backend_end_peer(unsigned peer);

/** Who takes a connection, and what it was told. */
struct taker {
    struct mk_upstream_wait *wait;
    struct mk_stream *s;
    unsigned calls, told;
    int error;
    bool fresh;
};

/** @return as mk_upstream_take. */
int taker_ask(struct taker *t, unsigned worker, bool fresh);
/** Ask, and be answered. */
void taker_take(struct taker *t, unsigned worker);
/** The same, with a new connection if asked for. */
void taker_take_way(struct taker *t, unsigned worker, bool fresh);
void taker_give(struct taker *t, bool reusable);
/** Turn until it was answered, at most so long. */
void taker_wait(struct taker *t, int ms);

#endif
