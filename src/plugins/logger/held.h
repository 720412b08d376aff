/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOGGER_HELD_H
#define LOGGER_HELD_H

#include "line.h"
#include "sink.h"

/*
 * Lines of requests behind which a tunnel begins: 101, and 2xx for CONNECT. Such a line is written when the tunnel ends, with
 * its bytes, and with the time that all of it took. What else it says is known when the request ends, and kept as text;
 * reloads do not change it, and it goes to the log that the site had then.
 */

/** May a tunnel begin behind this request? Asked of each one. */
static inline bool logger_held_is_for(const struct mk_request_facts *facts)
{
    return facts->status == 101 || (facts->method.len == 7 && facts->status / 100 == 2 &&
                                    memcmp(facts->method.p, "CONNECT", 7) == 0);
}

/**
 * Keep the line until the tunnel ends. In on_finish.
 * @param pipe    of the request's worker
 * @param target  borrowed; the line has a reference of its own, and one to the sink
 * @return 0; MK_E_NOENT: there is no tunnel, or it has ended; MK_E_NOMEM: the line is to be written now.
 */
int logger_held_begin(const struct logger_line *line, struct logger_sink *sink,
                      struct logger_pipe *pipe, struct logger_target *target) MK_MUST_USE;

#endif
