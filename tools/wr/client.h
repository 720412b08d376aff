/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLIENT_H
#define WR_CLIENT_H

#include <stdbool.h>

/*
 * What a load generator says at its end: ab, siege, wrk, wrk2, weighttp, h2load, hey, oha, vegeta, k6.
 *
 * Most of them ask again only when an answer came (a closed loop), so that a server that stalls is
 * asked less: their latencies are service times. Only those that keep to a rate (wrk2, vegeta) see
 * what a user would have waited.
 */

enum client_field {
    CLIENT_REQUESTS, /* answered */
    CLIENT_ERRORS,   /* of whatever kind, those with a status of an error too */
    CLIENT_US,       /* from the first request to the last answer, as the generator says */
    CLIENT_P50_US,
    CLIENT_P90_US,
    CLIENT_P99_US,
    CLIENT_MAX_US,
    CLIENT_FIELD_COUNT
};

struct client_result {
    const char *tool;                  /* static */
    bool is_open_loop;                 /* latencies count from when a request was due */
    double values[CLIENT_FIELD_COUNT]; /* NAN: not said */
};

/** @return false: no tool that we know, or no count of requests. text may be anything. */
bool client_parse(const char *text, struct client_result *r);

/**
 * The same with a regular expression (POSIX extended) whose first group is the count of requests; several matches
 * are summed.
 * @return 0; -1: it does not match; -2: it is no such expression
 */
int client_parse_by(const char *expression, const char *text, struct client_result *r);

#endif
