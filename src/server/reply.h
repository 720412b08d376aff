/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_REPLY_H
#define MK_SERVER_REPLY_H

#include "server/request.h"

/*
 * Answering a request: begin, lines of the head, end, then the body's sources. The head is written
 * straight into what the connection sends next. One answer a request; a second begin is refused.
 */

struct mk_reply {
    struct mk_request *r;
    char *start, *at, *end; /* the head being written */
    bool overflow;
    bool has_length; /* a Content-Length line was copied in already */
};

/**
 * Status line, Server and Date.
 * @return 0, or MK_E_PEER: the connection is broken.
 */
int mk_reply_begin(struct mk_reply *p, struct mk_request *r, unsigned status) MK_MUST_USE;
/** A field, unless the site overrides that name. */
void mk_reply_line(struct mk_reply *p, struct mk_str name, struct mk_str value);
/** Ready-made field lines with their line ends. */
void mk_reply_lines(struct mk_reply *p, struct mk_str lines);
void mk_reply_line_u64(struct mk_reply *p, struct mk_str name, uint64_t value);
/**
 * The site's extra lines, framing, Connection and the empty line.
 * @param length  of the body to come; -1: unknown (chunked, or until close for HTTP/1.0)
 * @return 0, or MK_E_LIMIT when the head was too large: an error page was not sent, the caller must
 *         close.
 */
int mk_reply_end(struct mk_reply *p, int64_t length) MK_MUST_USE;
/** The same without the site's extra lines, for heads whose ready-made lines hold them. */
int mk_reply_end_plain(struct mk_reply *p, int64_t length) MK_MUST_USE;

/* Body sources, in order. Nothing is queued when the answer has no body (HEAD). @return 0 or MK_E_NOMEM. */
int mk_reply_memory(struct mk_request *r, struct mk_str bytes) MK_MUST_USE;
/** Takes over the reference. */
int mk_reply_file(struct mk_request *r, struct mk_file *file, uint64_t at,
                  uint64_t end) MK_MUST_USE;
int mk_reply_producer(struct mk_request *r, mk_produce_fn produce, void *arg) MK_MUST_USE;

/** A small HTML page, or the site's own for this status. Closes the connection afterwards when close is set. */
void mk_reply_error(struct mk_request *r, unsigned status, bool close);
/** The same for a reason of the table. */
void mk_reply_refuse(struct mk_request *r, enum mk_refusal refusal);
/** 416 with the size of the representation, RFC 9110 section 14.4. */
void mk_reply_range_error(struct mk_request *r, uint64_t size);
/** What OPTIONS gets: 204 and the methods that files know. */
void mk_reply_options(struct mk_request *r);
/** 301 and the like; location is escaped already. */
void mk_reply_redirect(struct mk_request *r, unsigned status, struct mk_str location);

#endif
