/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_H1_H1_H
#define MK_SERVER_H1_H1_H

#include "server/h1/conn.h"
#include "server/request/request.h"

/*
 * HTTP/1 on a connection: the states of conn.h, each with a step. What one turn may do is bounded, so
 * that the other connections of the worker get theirs.
 */

enum mk_step {
    MK_STEP_NEXT,  /* the state may have changed: step again */
    MK_STEP_WAIT,  /* nothing to do until an event or the timeout */
    MK_STEP_SOON,  /* the turn's budget is used up: go on after the others */
    MK_STEP_CLOSE, /* c->close_reason says why */
};

/** What is left of a connection's turn. */
struct mk_turn {
    size_t bytes;
    unsigned requests;
    bool traced; /* changes of its state */
};

enum mk_step mk_h1_step(struct mk_conn *c, struct mk_turn *turn);

/** Arm the timeout that belongs to the state, if it is a new one or bytes have moved. */
void mk_h1_set_timeout(struct mk_conn *c);

/** How long the present state may last has changed. */
void mk_h1_renew_timeout(struct mk_conn *c);

/** A connection that lingers does so for a short while from now on. */
void mk_h1_hurry(struct mk_conn *c);

/** The timeout has come. @return true: step again, false: closed. */
bool mk_h1_on_timeout(struct mk_conn *c);

/** For how long its peer has been keeping it waiting, or is behind the pace it should have; 0: it is not the peer's turn. */
uint32_t mk_h1_useless_ms(const struct mk_conn *c);

/** Skip no more of a body that nobody wants: its connection ends behind the answer. */
void mk_h1_end_drain(struct mk_conn *c);

/**
 * End an idle connection by our own decision, in stages: no more is sent, and input is thrown away until the peer ends too.
 * Run it afterwards.
 */
void mk_h1_end(struct mk_conn *c, enum mk_close reason);

/** Drop the request under way, if any; its answer does not matter any more. @param has_left  its client is why */
void mk_h1_abandon(struct mk_conn *c, bool has_left);

/** Read what the kernel has. @return > 0; 0 at the end of input; MK_E_AGAIN; MK_E_PEER. */
ssize_t mk_h1_recv(struct mk_conn *c, char *dst, size_t len);

/**
 * The same into the job's buffer.
 * @return > 0; 0 at the end of input; MK_E_AGAIN; MK_E_PEER; MK_E_NOMEM; MK_E_LIMIT: the buffer is full.
 */
ssize_t mk_h1_fill(struct mk_conn *c);

#endif
