/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_H1_TAKE_H
#define MK_SERVER_H1_TAKE_H

struct mk_conn;

/* Of connections with a stream. */

/** The head has left: the connection speaks HTTP no longer. */
void mk_take_begin(struct mk_conn *c);
/** The server stops. */
void mk_take_stop(struct mk_conn *c);
/** The connection is closed. */
void mk_take_end(struct mk_conn *c);

#endif
