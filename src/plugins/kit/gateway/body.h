/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_GATEWAY_BODY_H
#define KIT_GATEWAY_BODY_H

#include <monkey/plugin.h>
#include <monkey/upstream.h>

/*
 * The body of a request on its way to a backend. One of known length is passed on as it comes. A chunked one is gathered
 * first, in memory and then in a file, since CONTENT_LENGTH must be told before it (RFC 3875 section 4.1.2), and most
 * programs read nothing without it.
 */

struct gateway_body {
    struct mk_spool *spool; /* of a chunked one */
    uint64_t at;            /* bytes given */
    int64_t length;         /* -1: not gathered yet */
    bool announced;         /* there is one, if only an empty one */
    bool ended;
};

/** What the request announces. */
void gateway_body_init(struct gateway_body *b, const struct mk_request *r);

/**
 * Gather it where it has to be. In a hook.
 * @param dir  of temporary files
 * @return PASS: its length is known and it can be read; LATER: to be returned, call again; DONE: it cannot be had, and is
 *         answered: 400, 413, 500 or 503.
 */
enum mk_verdict gateway_body_gather(struct gateway_body *b, struct mk_request *r, const char *dir);

/** @return as mk_request_read. */
ssize_t gateway_body_read(struct gateway_body *b, struct mk_request *r, char *dst,
                          size_t len) MK_MUST_USE;

/** Zeroed ones are allowed. */
void gateway_body_fini(struct gateway_body *b);

#endif
