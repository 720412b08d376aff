/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_HEAD_H
#define PROXY_HEAD_H

#include "entry/settings.h"

#include <monkey/variables.h>

/*
 * The head of the request that a backend gets: made anew from what was understood of the client's, so that
 * nothing of its framing or of its connection passes. Pure.
 */

enum {
    PROXY_CONNECTION_MAX = 1024, /* bytes of Connection lines: each field is looked for in them */
    PROXY_TRAILED_MAX = 100,     /* fields behind a body: likewise, and in those before them */
};

/** Walk the fields of a message. @param at  0 at first. @return false after the last. */
typedef bool (*proxy_fields_fn)(const void *of, uint32_t *at, struct mk_str *name,
                                struct mk_str *value);

/** What a variable of <monkey/variables.h> stands for in a request; borrowed from it or from room. */
typedef struct mk_str (*proxy_variable_fn)(const void *of, int which, char room[MK_VARIABLE_ROOM]);

/** What is known of the client's request. All borrowed. */
struct proxy_request {
    struct mk_str method, target; /* as sent */
    struct mk_str path, query;    /* decoded and normalised; behind `?`, p NULL without */
    struct mk_str host;           /* p NULL: none */
    const char *scheme;           /* "http", "https" */
    struct mk_str peer;           /* the client's IP address as text; len 0: it has none */
    unsigned port;                /* that the client came to; 0: none */
    unsigned minor;
    int64_t content_length; /* -1: chunked; 0: none */
    struct mk_str upgrade;  /* the protocol that is asked for; p NULL: none */
    int64_t hops;           /* proxy_hops: what Max-Forwards said; < 0: nothing that counts */
    bool trusted;           /* the peer: what it says of who came before is believed */
    bool expects;           /* 100-continue is to be passed on */
    bool trailers;          /* fields behind the answer would be passed on */
    bool keeps;             /* the connection to the backend may stay open */
    proxy_fields_fn next, next_trailer; /* of the head; behind the body */
    proxy_fields_fn next_passed;        /* of ours, in place of the client's; NULL: none */
    proxy_variable_fn variable;         /* NULL: there are no lines of SetHeader */
    const void *of;
};

/**
 * @param authority  of the backend, for a Host field
 * @return bytes written; MK_E_NOMEM: there is no room for them; MK_E_LIMIT: Connection lines name more than a client can mean;
 *         MK_E_BAD: the target is none that a backend could be asked for.
 */
ssize_t proxy_head_write(char *dst, size_t room, const struct proxy_request *q,
                         const struct proxy_settings *set, struct mk_str authority);

/** Room for the end of a chunked body: the 8 KB that a client may send, with a blank behind each of 100 colons, and two lines. */
enum { PROXY_TRAILERS_MAX = 8192 + 100 + 5 };

/**
 * The last chunk of a body, and of the client's fields behind it those that may stand there: RFC 9112 section 7.1.2. At
 * most 100 of them are looked at.
 * @param dst  PROXY_TRAILERS_MAX bytes
 * @return bytes written.
 */
size_t proxy_trailers_write(char *dst, const struct proxy_request *q,
                            const struct proxy_settings *set);

/**
 * May a field stand behind a body? Not what says how a message is framed, routed, authorised or understood
 * (RFC 9110 section 6.5.1): whoever reads it there has acted without it, and who merges it into the head acts on it unseen.
 */
bool proxy_may_trail(struct mk_str name);
/** May all fields of this list, as Trailer has it? */
bool proxy_may_announce(struct mk_str names);

/** Is this field of one connection only, by its name (RFC 9110 section 7.6.1)? `_` counts as `-`. */
bool proxy_is_hop_by_hop(struct mk_str name);
/** Does Connection have this token, in any case? Its lines are one list (RFC 9110 section 5.3). */
bool proxy_connection_has(proxy_fields_fn next, const void *of, struct mk_str token);
/** Does a list of tokens have this one, in any case? */
bool proxy_has_token(struct mk_str list, struct mk_str token);
/** Does it have all of these? */
bool proxy_has_all(struct mk_str list, struct mk_str tokens);
/** Is Max-Forwards of this method for proxies to count down (RFC 9110 section 7.6.2)? */
bool proxy_counts_hops(struct mk_str method);
/** @return how many proxies may still follow, by the value of Max-Forwards; 0: it is for us to answer; < 0: it says nothing. */
int64_t proxy_hops(struct mk_str value);

#endif
