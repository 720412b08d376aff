/* SPDX-License-Identifier: Apache-2.0 */
#include "server/backend/stream.h"
#include "server/h1/hold.h"

#include <monkey/upstream.h>

void mk_stream_hold(struct mk_stream *s, size_t bytes)
{
    if (s && s->conn)
        mk_conn_set_kept(s->conn, bytes);
    else if (s && s->link && s->kind->hold)
        s->kind->hold(s, bytes);
}
