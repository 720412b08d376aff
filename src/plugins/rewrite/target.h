/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REWRITE_TARGET_H
#define REWRITE_TARGET_H

#include <monkey/variables.h>

#include <stdbool.h>

/*
 * Where a rule leads to: a path of the site or a URL, with variables. Each value is escaped for its place, so that the text
 * of a request can neither leave the path for the query nor name another host.
 */

enum {
    TARGET_PARTS = 32,
    TARGET_CAPTURES = 10,
    TARGET_STATUS = 301, /* if none is written */
};

enum target_kind {
    TARGET_TEXT,
    TARGET_CAPTURE,
    TARGET_VARIABLE,
};

enum target_place {
    TARGET_AT_START, /* before a scheme or a path */
    TARGET_IN_AUTHORITY,
    TARGET_IN_PATH,
    TARGET_IN_QUERY, /* or in a fragment */
};

struct target_part {
    enum target_kind kind;
    enum target_place place;
    unsigned number;    /* of a CAPTURE; VARIABLE: enum mk_variable */
    struct mk_str text; /* TEXT: of the target */
};

struct target {
    struct target_part parts[TARGET_PARTS];
    unsigned nparts;
    unsigned ncaptures; /* one more than the highest */
    bool has_query;
    bool is_local;       /* a path, not a URL */
    bool is_constant;    /* no variables */
    bool is_host_chosen; /* by the request: the authority ends in a variable other than its host */
};

struct target_values {
    struct mk_str variables[MK_VARIABLE_COUNT];
    struct mk_str captures[TARGET_CAPTURES];
};

/** @return a status of redirects (RFC 9110 section 15.4): 301, 302, 303, 307 or 308; 0: the text is none. */
unsigned rewrite_target_status(struct mk_str text);

/**
 * @param t     refers to the texts of the template afterwards
 * @param from  with groups
 * @param why   out, on failure: a sentence without full stop; static
 * @return 0 or MK_E_INVALID.
 */
int rewrite_target_parse(struct target *t, const struct mk_template *from, const char **why);

/** @return room that rewrite_target_write needs, for what the values are. */
size_t rewrite_target_room(const struct target *t, const struct target_values *values);
/** Write the URL or path; a path begins with exactly one slash. @return bytes. */
size_t rewrite_target_write(const struct target *t, const struct target_values *values, char *dst);

#endif
