/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_H1_TAKE_H
#define MK_SERVER_H1_TAKE_H

#include <monkey/stream.h>

struct mk_conn;

/* Of connections with a stream. */

/** Give a connection a stream, which waits. @return 0; MK_E_INVALID: it has one; MK_E_NOMEM. */
int mk_take_conn(struct mk_conn *c, struct mk_stream **stream, mk_stream_fn fn,
                 void *arg) MK_MUST_USE;
/** The head has left: the connection speaks HTTP no longer. */
void mk_take_begin(struct mk_conn *c);
/** The server stops. */
void mk_take_stop(struct mk_conn *c);
/** The connection is closed. */
void mk_take_end(struct mk_conn *c);

#endif
