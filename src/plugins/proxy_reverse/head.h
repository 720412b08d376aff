/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_HEAD_H
#define PROXY_HEAD_H

#include "settings.h"

/*
 * The head of the request that a backend gets: made anew from what was understood of the client's, so that
 * nothing of its framing or of its connection passes. Pure.
 */

/** What is known of the client's request. All borrowed. */
struct proxy_request {
    struct mk_str method, target; /* as sent */
    struct mk_str path, query;    /* decoded and normalised; behind `?`, p NULL without */
    struct mk_str host;           /* p NULL: none */
    const char *scheme;           /* "http", "https" */
    struct mk_str peer;           /* the client's IP address as text; len 0: it has none */
    unsigned minor;
    int64_t content_length; /* -1: chunked; 0: none */
    struct mk_str upgrade;  /* the protocol that is asked for; p NULL: none */
    bool expects;           /* 100-continue is to be passed on */
    bool trailers;          /* fields behind the answer would be passed on */
    bool keeps;             /* the connection to the backend may stay open */
    /** Walk the fields. @param at  0 at first. @return false after the last. */
    bool (*next)(const void *of, uint32_t *at, struct mk_str *name, struct mk_str *value);
    const void *of;
};

/**
 * @param authority  of the backend, for a Host field
 * @return bytes written; MK_E_NOMEM: there is no room for them; MK_E_LIMIT: Connection lines name more than a client can mean;
 *         MK_E_BAD: the target is none that a backend could be asked for.
 */
ssize_t proxy_head_write(char *dst, size_t room, const struct proxy_request *q,
                         const struct proxy_settings *set, struct mk_str authority);

/** Is this field of one connection only, by its name (RFC 9110 section 7.6.1)? `_` counts as `-`. */
bool proxy_is_hop_by_hop(struct mk_str name);
/** Does a list of tokens have this one, in any case? */
bool proxy_has_token(struct mk_str list, struct mk_str token);
/** Is the method safe to repeat (RFC 9110 section 9.2.2)? */
bool proxy_is_idempotent(struct mk_str method);

#endif
