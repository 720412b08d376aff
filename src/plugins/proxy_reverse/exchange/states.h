/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_STATES_H
#define PROXY_STATES_H

#include "kit/states/states.h"

/*
 * How far an exchange is, in three tables: the exchange itself, its request on the way to the backend, and the client's
 * body on the way to us. The request goes on while the answer already comes, so none of them follows from another. A row
 * is a name, the states that may follow it, and what it means. Order matters: what a connection, a part of the request or
 * a head was needed for can be asked with `<`.
 */

#define PROXY_TO(upper) (1U << PROXY_##upper)

#define PROXY_STATES(X)                                                                            \
    X(GATHER, "gather", PROXY_TO(CONNECT) | PROXY_TO(OVER),                                        \
      "the client's body is gathered; no backend is asked yet")                                    \
    X(CONNECT, "connect", PROXY_TO(CONNECT) | PROXY_TO(SEND) | PROXY_TO(OVER),                     \
      "a backend is chosen, and its connection awaited; without one, the next is chosen")          \
    X(SEND, "send", PROXY_TO(CONNECT) | PROXY_TO(HEAD) | PROXY_TO(OVER),                           \
      "the request is on its way, and no byte of an answer came")                                  \
    X(HEAD, "head", PROXY_TO(CONNECT) | PROXY_TO(BODY) | PROXY_TO(TUNNEL) | PROXY_TO(OVER),        \
      "the head of the answer arrives, perhaps after interim ones; another backend may be asked")  \
    X(BODY, "body", PROXY_TO(REST) | PROXY_TO(OVER),                                               \
      "the head was passed on, and the body follows")                                              \
    X(REST, "rest", PROXY_TO(OVER), "all of the answer came, and the client takes what is left")   \
    X(TUNNEL, "tunnel", PROXY_TO(OVER), "101 was passed on: tunnel.c has both connections")        \
    X(OVER, "over", 0, "nothing of the exchange goes on")

#define PROXY_SENDING(X)                                                                           \
    X(NEW, "new", PROXY_TO(READY), "its head is not made")                                         \
    X(READY, "ready", PROXY_TO(NEW) | PROXY_TO(PART) | PROXY_TO(DEAF),                             \
      "its head is made, and no byte has left")                                                    \
    X(PART, "part", PROXY_TO(NEW) | PROXY_TO(WHOLE) | PROXY_TO(CUT), "some of it has left")        \
    X(WHOLE, "whole", PROXY_TO(NEW), "all of it has left")                                         \
    X(DEAF, "deaf", PROXY_TO(NEW), "the backend took no byte of it, and takes none")               \
    X(CUT, "cut", PROXY_TO(NEW), "the backend took some of it, and takes no more")

#define PROXY_READING(X)                                                                           \
    X(OPEN, "open", PROXY_TO(HELD) | PROXY_TO(READ), "as much is read as there is room for")       \
    X(HELD, "held", PROXY_TO(OPEN), "not asked for before the backend says 100 (Continue)")        \
    X(READ, "read", PROXY_TO(OPEN), "all of it was read; a repetition may have to read it again")

#define PROXY_STATE_ENUM(upper, name, next, text) PROXY_##upper,
enum proxy_exchange_state { PROXY_STATES(PROXY_STATE_ENUM) PROXY_STATE_COUNT };
enum proxy_sending { PROXY_SENDING(PROXY_STATE_ENUM) PROXY_SENDING_COUNT };
enum proxy_reading { PROXY_READING(PROXY_STATE_ENUM) PROXY_READING_COUNT };
#undef PROXY_STATE_ENUM

extern const struct states proxy_exchange_states, proxy_sending_states, proxy_reading_states;

#endif
