/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SERVER_LOOPBACK_H
#define TESTS_SERVER_LOOPBACK_H

#include "fixture.h"

#include "server/h1/conn.h"
#include "server/h1/job.h"

/*
 * A connection without a socket: its transport gives bytes of a script in pieces of a chosen size
 * and takes answers as slowly as one likes. Events come as from an edge-triggered epoll: for new input,
 * and for room after there had been none.
 */
struct loopback {
    struct mk_endpoint
        endpoint; /* of this connection alone, so that the transport finds its way back */
    struct mk_worker *worker;
    struct mk_conn *conn;
    /* to be set before loopback_open */
    struct mk_str in;
    size_t first_piece; /* bytes of the first arrival; 0: as in_piece */
    size_t in_piece;    /* bytes that arrive at a time; 0: all */
    size_t out_piece;   /* bytes taken at a time; 0: all */
    bool half_close;    /* the end of input follows the last byte */
    bool no_sendfile, read_error;
    bool busy;
    struct mk_peer peer;
    /* what came out */
    char *out;
    size_t out_len, out_cap;
    unsigned nrecv, nsend, nsendfile, nshutdown;
    size_t most_at_once; /* taken between two turns */
    /* inside */
    size_t arrived, in_at, room, taken;
    bool end_arrived, blocked, broken;
};

void loopback_init(struct loopback *lb, struct mk_worker *w, struct mk_str in);
/** Open the connection with nothing arrived yet. */
void loopback_open(struct loopback *lb);
/** More bytes for an open connection; replaces what was asked before, which must have been read. */
void loopback_say(struct loopback *lb, struct mk_str in);
/** Let the next piece arrive and make room for the next piece of output. @return the events of that, not delivered yet. */
uint32_t loopback_arrive(struct loopback *lb);
/** The event of that, then a turn of the loop. */
void loopback_turn(struct loopback *lb);
/** Turns until nothing moves any more or the connection is closed. */
void loopback_run(struct loopback *lb);
/** The whole: open, run, close. lb->out stays until loopback_free. */
void loopback_talk(struct loopback *lb);
/** Fire the connection's timer. */
void loopback_time_out(struct loopback *lb);
bool loopback_is_closed(const struct loopback *lb);
/** Close if open, and let the loop bury it. */
void loopback_close(struct loopback *lb);
void loopback_free(struct loopback *lb);

/** What was answered, with every Date made the same. */
struct mk_str loopback_answer(struct loopback *lb);
/** Status of the n-th answer (from 0) by counting status lines; 0 when there are fewer. */
unsigned loopback_status(struct loopback *lb, unsigned n);
/** Does what was answered begin with this text, where a star stands for the rest of a line? */
bool loopback_begins(struct loopback *lb, const char *expected);
/** The same for all of it. */
bool loopback_matches(struct loopback *lb, const char *expected);
bool loopback_has(struct loopback *lb, const char *text);

#endif
