/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOGGER_LINE_H
#define LOGGER_LINE_H

#include "format.h"

/* From a request that has ended to its lines. */

enum { LOGGER_TIME_MAX = 40 };

/** The time of lines as text, made once a second. */
struct logger_clock {
    int64_t at_s; /* of text; 0: none yet */
    size_t len;
    enum logger_style style;
    char text[LOGGER_TIME_MAX];
};

struct logger_line {
    const struct logger_format *format;
    const struct mk_request *request;
    struct mk_request_facts facts;
    struct mk_conn_facts conn;
    struct logger_entry entry;
    char peer[MK_PEER_TEXT];
};

/** Gather what a line tells. On the request's worker, when it finishes; valid until the request ends. */
void logger_line_begin(struct logger_line *line, const struct logger_format *format,
                       const struct mk_request *r, struct logger_clock *clock);

/** Two kinds of lines: logger_line_fn of gather.h, arg is the struct logger_line. */
void logger_line_access(const void *arg, struct logger_text *t);
void logger_line_error(const void *arg, struct logger_text *t);

#endif
