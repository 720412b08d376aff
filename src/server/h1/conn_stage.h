/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_H1_CONN_STAGE_H
#define MK_SERVER_H1_CONN_STAGE_H

#include <stdbool.h>

struct mk_conn;

/** Stage 10. @return whether the connection may stay. */
bool mk_conn_ask_accept(struct mk_conn *c);

/** Stage 50. */
void mk_conn_tell_close(struct mk_conn *c);

/** Tell the plugins that ask of an event of a connection: enum mk_io_events. */
void mk_conn_tell_event(struct mk_conn *c, unsigned events);

#endif
