/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_SESSION_VALUES_H
#define MK_DUDA_OBJECTS_SESSION_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values of a session in Redis, as a request sees them. */

/* Where a value comes from. */
enum mk_duda_session_origin {
    MK_DUDA_SESSION_ORIGIN_FETCHED, /* Redis */
    MK_DUDA_SESSION_ORIGIN_CHANGED, /* the request, in place of one that was fetched */
    MK_DUDA_SESSION_ORIGIN_OWN      /* the request: none was fetched */
};

/* What Redis is to be told of a value. Only what the request has changed is written: the rest may have ended meanwhile. */
enum mk_duda_session_value_state {
    MK_DUDA_SESSION_VALUE_KNOWN, /* nothing */
    MK_DUDA_SESSION_VALUE_CHANGED, /* it, unless there is none by now: then somebody has logged out, and that lasts */
    MK_DUDA_SESSION_VALUE_NEW /* it */
};

struct mk_duda_session_value {
    struct mk_duda_session_value *next;
    enum mk_duda_session_origin origin;
    enum mk_duda_session_value_state state;
    int64_t expires; /* 0: by its last use */
    size_t bytes;
    const char *field, *text; /* behind the name; text is a part of field */
    char name[];
};

/** Zeroed at first. */
struct mk_duda_session_values {
    struct mk_duda_session_value *first;
    unsigned n;
    size_t bytes;
};

/** @return where the value of that name is; *at is NULL: there is none, or it has expired */
struct mk_duda_session_value **mk_duda_session_values_find(struct mk_duda_session_values *values,
                                                           const char *name, int64_t now);

/** Set a value of the request. @return 0; -1: there are too many, too many bytes, or no memory */
int mk_duda_session_values_add(struct mk_duda_session_values *values, const char *name,
                               const char *text, int64_t expires, int64_t now);

/** Free one; its bytes are overwritten. @param at  where it is, which has the next one afterwards */
void mk_duda_session_values_remove(struct mk_duda_session_values *values,
                                   struct mk_duda_session_value **at);
void mk_duda_session_values_clear(struct mk_duda_session_values *values);

/**
 * @return the time after which the last of them has expired, from now on
 * @param is_idle  out: one of them expires by its last use
 */
int64_t mk_duda_session_values_ttl(const struct mk_duda_session_values *values, int64_t now,
                                   bool *is_idle);

#endif
