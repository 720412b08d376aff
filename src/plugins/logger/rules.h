/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOGGER_RULES_H
#define LOGGER_RULES_H

#include <monkey/settings.h>

#include <stdint.h>

/*
 * Which requests have a line in an access log: those that one of the LogIf lines is true for, and of them a sample.
 *
 *     LogIf status>=400
 *     LogIf method=POST path=/api time>=500ms     all of it is true
 *     LogIf remote!=10.0.0.0/8
 *     Sample 1/100 errors
 *
 * A request with an id is in the sample, or not, by its id: so it is in the logs of all servers that it passes, or in none.
 */

enum {
    LOGGER_TERMS_MAX = 8,       /* of one line */
    LOGGER_CONDITIONS_MAX = 32, /* lines of one section */
    LOGGER_SAMPLE_MAX = 1000000,
};

struct logger_condition;

/** At the beginning of the settings of both sections. */
struct logger_rules {
    const struct logger_condition *first; /* NULL: all requests */
    struct logger_condition *last;
    unsigned nconditions;
    bool asks_remote;  /* one of them is about the client's address */
    uint32_t take, of; /* so many of so many; of 0: all */
    bool errors_stay;  /* those with a status of 400 or more are in every sample */
};

/** What they are about; texts are borrowed for the call. */
struct logger_asked {
    unsigned status;
    uint32_t took_ms;
    struct mk_str method, path; /* method with p NULL: the head was refused */
    const uint8_t
        *ip; /* the client's, as in struct mk_conn_facts; NULL: it has none, or nobody asks */
    struct mk_str id; /* of the request; p NULL: it has none */
};

/** The parsers of LogIf and Sample: their settings begin with a struct logger_rules. */
int logger_rules_parse_condition(struct mk_setup *setup, const struct mk_setting *s);
int logger_rules_parse_sample(struct mk_setup *setup, const struct mk_setting *s);

/** @param random  state of the worker's generator, not 0: for requests without an id */
bool logger_rules_want(const struct logger_rules *rules, const struct logger_asked *asked,
                       uint64_t *random);

#endif
