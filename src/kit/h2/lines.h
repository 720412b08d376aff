/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_H2_LINES_H
#define KIT_H2_LINES_H

#include <monkey/types.h>

#include <stdbool.h>

/* Field lines as HTTP/1 has them, for whoever makes a field block of them. */

/** Cut the first line off. @return false: there is none, or it is malformed. */
bool h2_next_line(struct mk_str *lines, struct mk_str *name, struct mk_str *value);
/** Is it of HTTP/1's connections (RFC 9113 section 8.2.2), or its proof of WebSocket (RFC 8441 section 5)? In any case. */
bool h2_is_of_http1(struct mk_str name);

#endif
