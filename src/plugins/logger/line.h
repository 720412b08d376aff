/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOGGER_LINE_H
#define LOGGER_LINE_H

#include "format.h"

/* From a request that has ended to its lines. */

enum { LOGGER_TIME_MAX = 40, LOGGER_ZONE_MAX = 8 };

/** Texts that lines have in common, of one worker: the time, made once a second, and the last client's address. */
struct logger_texts {
    int64_t at_s; /* of time; 0: none yet */
    size_t time_len;
    enum logger_style style;
    char time[LOGGER_TIME_MAX];
    int64_t day_s; /* of day and zone; 0: none yet */
    char day[LOGGER_TIME_MAX], zone[LOGGER_ZONE_MAX];
    bool peer_is_unix;
    uint8_t peer_ip[16];
    size_t peer_len; /* 0: none yet */
    char peer[MK_PEER_TEXT];
};

struct logger_line {
    const struct logger_format *format;
    const struct mk_request *request;
    struct mk_request_facts facts;
    struct mk_conn_facts conn;
    struct logger_entry entry;
    char rooms[MK_VARIABLE_COUNT][MK_VARIABLE_ROOM]; /* of its variables */
};

/** Gather what a line tells. On the request's worker, when it finishes; valid until the request ends or the next line begins. */
void logger_line_begin(struct logger_line *line, const struct logger_format *format,
                       const struct mk_request *r, struct logger_texts *texts);

/** The times of an entry that ends now. @param texts  zeroed, or used for lines of this worker before */
void logger_line_times(struct logger_entry *e, enum logger_style style, const struct mk_worker *w,
                       int64_t began_ms, struct logger_texts *texts);

/** Two kinds of lines: logger_line_fn of gather.h, arg is the struct logger_line. */
void logger_line_access(const void *arg, struct logger_text *t);
void logger_line_error(const void *arg, struct logger_text *t);

#endif
