/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_PRECONDITIONS_H
#define MK_HTTP_PRECONDITIONS_H

#include <monkey/types.h>

#include <stdbool.h>

/* Preconditions: RFC 9110 section 13, in the order of section 13.2.2. */

/** The fields of a request; {NULL, 0} when absent. */
struct mk_preconditions {
    struct mk_str if_match, if_none_match, if_modified_since, if_unmodified_since, if_range;
};

/** The representation that was selected. */
struct mk_validators {
    struct mk_str etag;    /* with its quotes, strong unless it begins with W/ */
    int64_t last_modified; /* seconds since the epoch */
    int64_t now;           /* the origin's clock, for rfc850 dates and "strong enough" */
};

enum mk_precondition {
    MK_PRECONDITION_PASS,         /* carry on; look at mk_if_range_holds before Range */
    MK_PRECONDITION_NOT_MODIFIED, /* 304 for GET and HEAD */
    MK_PRECONDITION_FAILED,       /* 412 */
};

/**
 * @param is_read  the method is GET or HEAD
 * A malformed date is ignored; If-Modified-Since counts only for reads and only without
 * If-None-Match; If-Unmodified-Since only without If-Match. A list longer than MK_LIMIT_ETAGS
 * is judged by its first MK_LIMIT_ETAGS members.
 */
enum mk_precondition mk_preconditions_eval(const struct mk_preconditions *p,
                                           const struct mk_validators *v, bool is_read);

/**
 * Should Range be obeyed? True without If-Range; else only when its entity tag is strong and
 * equal, or its date is exactly last_modified and at least one second older than now (RFC 9110
 * sections 13.1.5 and 8.8.2.2).
 */
bool mk_if_range_holds(struct mk_str if_range, const struct mk_validators *v);

#endif
