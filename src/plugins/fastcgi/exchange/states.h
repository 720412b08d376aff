/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FASTCGI_STATES_H
#define FASTCGI_STATES_H

#include "kit/states/states.h"

/*
 * How far an exchange is, in four tables: the exchange itself, what is written of its request, what has left of that, and
 * ReadTimeout. An answer may begin before the request is sent, so none follows from another. A row is a name, the states
 * that may follow it, and what it means. Order matters: `<` and `>` are asked.
 */

#define EXCHANGE_TO(upper) (1U << EXCHANGE_##upper)
#define EXCHANGE_STATES(X)                                                                         \
    X(GATHER, "gather", EXCHANGE_TO(CONNECT) | EXCHANGE_TO(OVER),                                  \
      "the client's body is gathered; no server is asked yet")                                     \
    X(CONNECT, "connect", EXCHANGE_TO(CONNECT) | EXCHANGE_TO(SEND) | EXCHANGE_TO(OVER),            \
      "a server is chosen, and its connection awaited; without one, the next is chosen")           \
    X(SEND, "send", EXCHANGE_TO(CONNECT) | EXCHANGE_TO(ANSWER) | EXCHANGE_TO(OVER),                \
      "the request is on its way, and no byte of an answer came")                                  \
    X(ANSWER, "answer", EXCHANGE_TO(REST) | EXCHANGE_TO(OVER), "records of an answer arrive")      \
    X(REST, "rest", EXCHANGE_TO(OVER),                                                             \
      "all of the answer came, and the client takes what is left; the connection is others'")      \
    X(OVER, "over", 0, "nothing of the exchange goes on")

#define WRITTEN_TO(upper) (1U << WRITTEN_##upper)
#define WRITTEN_STATES(X)                                                                          \
    X(NONE, "none", WRITTEN_TO(HEAD) | WRITTEN_TO(ALL), "no record")                               \
    X(HEAD, "head", WRITTEN_TO(PIECE) | WRITTEN_TO(ALL) | WRITTEN_TO(NONE),                        \
      "all up to STDIN, and nothing of that")                                                      \
    X(PIECE, "piece", WRITTEN_TO(ALL) | WRITTEN_TO(NONE), "some of STDIN")                         \
    X(ALL, "all", WRITTEN_TO(NONE), "the last record")

#define SENDING_TO(upper) (1U << SENDING_##upper)
#define SENDING_STATES(X)                                                                          \
    X(READY, "ready", SENDING_TO(PART) | SENDING_TO(DEAF), "no byte has left")                     \
    X(PART, "part", SENDING_TO(WHOLE) | SENDING_TO(CUT) | SENDING_TO(READY),                       \
      "some of it has left")                                                                       \
    X(WHOLE, "whole", SENDING_TO(READY), "all of it has left")                                     \
    X(DEAF, "deaf", SENDING_TO(READY), "the server took no byte of it, and takes none")            \
    X(CUT, "cut", SENDING_TO(READY), "the server took some of it, and takes no more")

#define TIME_TO(upper) (1U << TIME_##upper)
#define TIME_STATES(X)                                                                             \
    X(IDLE, "idle", TIME_TO(RUNS), "the client is waited for, or we are")                          \
    X(RUNS, "runs", TIME_TO(IDLE) | TIME_TO(OUT), "the application is waited for")                 \
    X(OUT, "out", 0, "it was waited for in vain")

#define FCGI_STATE_EXCHANGE(upper, name, next, text) EXCHANGE_##upper,
#define FCGI_STATE_WRITTEN(upper, name, next, text) WRITTEN_##upper,
#define FCGI_STATE_SENDING(upper, name, next, text) SENDING_##upper,
#define FCGI_STATE_TIME(upper, name, next, text) TIME_##upper,
enum exchange_state { EXCHANGE_STATES(FCGI_STATE_EXCHANGE) EXCHANGE_STATE_COUNT };
enum written_state { WRITTEN_STATES(FCGI_STATE_WRITTEN) WRITTEN_STATE_COUNT };
enum sending_state { SENDING_STATES(FCGI_STATE_SENDING) SENDING_STATE_COUNT };
enum time_state { TIME_STATES(FCGI_STATE_TIME) TIME_STATE_COUNT };

extern const struct states fastcgi_exchange_states, fastcgi_written_states, fastcgi_sending_states,
    fastcgi_time_states;

#endif
