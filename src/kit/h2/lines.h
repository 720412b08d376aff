/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_H2_LINES_H
#define KIT_H2_LINES_H

#include "kit/h2/session.h"

/* Field lines as HTTP/1 has them, for whoever makes a field block of them. */

/** Cut the first line off. @return false: there is none, or it is malformed. */
bool h2_next_line(struct mk_str *lines, struct mk_str *name, struct mk_str *value);
/** Is it of HTTP/1's connections (RFC 9113 section 8.2.2), or its proof of WebSocket (RFC 8441 section 5)? In any case. */
bool h2_is_of_http1(struct mk_str name);

/** @return bytes at most of these lines in a block, as of h2_head_begin: a line has at least two that are not encoded. */
static inline size_t h2_lines_most(struct mk_str lines)
{
    return 4 * lines.len;
}
/** Add these lines to a head, up to a malformed one, without those of HTTP/1's connections. */
void h2_head_add_lines(struct h2_head *h, struct mk_str lines);
/** End a body by these lines: what h2_events.trailers does. @return false: there is no memory for them, or the stream is closed. */
bool h2_send_trailers(struct h2_stream *st, struct mk_str lines);

#endif
