/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_REPLY_H
#define MK_SERVER_REPLY_H

#include "server/request.h"

/*
 * Answering a request, beyond what <monkey/request.h> offers to plugins. The head is written straight
 * into what the connection sends next.
 */

/** Ready-made field lines with their line ends. */
void mk_reply_lines(struct mk_reply *p, struct mk_str lines);
void mk_reply_line_u64(struct mk_reply *p, struct mk_str name, uint64_t value);
/** mk_reply_end without the site's extra lines, for heads whose ready-made lines hold them. */
int mk_reply_end_plain(struct mk_reply *p, int64_t length) MK_MUST_USE;

/** Takes over the reference. @return 0 or MK_E_NOMEM. */
int mk_reply_file(struct mk_request *r, struct mk_file *file, uint64_t at,
                  uint64_t end) MK_MUST_USE;

/** A small HTML page, or the site's own for this status. Closes the connection afterwards when close is set. */
void mk_reply_page(struct mk_request *r, unsigned status, bool close);
/** The same for a reason of the table. */
void mk_reply_refuse(struct mk_request *r, enum mk_refusal refusal);
/** 416 with the size of the representation, RFC 9110 section 14.4. */
void mk_reply_range_error(struct mk_request *r, uint64_t size);
/** What OPTIONS gets: 204 and the methods that files know. */
void mk_reply_options(struct mk_request *r);

#endif
