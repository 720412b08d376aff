/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_ANSWER_REPLY_H
#define MK_SERVER_ANSWER_REPLY_H

#include "server/request/request_state.h"

/*
 * Answering a request, beyond what <monkey/request.h> offers to plugins. The head is written straight
 * into the room that its protocol has for it.
 */

/*
 * The head, as the server itself writes it: what it knows to be right is not looked at again. The calls
 * that plugins use check first (answer.c).
 */

/** Status line, Date and Server. @return 0 or MK_E_PEER. */
int mk_reply_start(struct mk_reply *p, struct mk_request *r, unsigned status) MK_MUST_USE;
/** A field, unless the site overrides it. */
void mk_reply_add(struct mk_reply *p, struct mk_str name, struct mk_str value);
/**
 * Room for so many bytes more than there is behind p->at: the head moves to larger room of its request, and what was written
 * stays readable where it was until the head is complete. @return 0, MK_E_LIMIT, MK_E_NOMEM.
 */
int mk_reply_grow(struct mk_reply *p, size_t len) MK_MUST_USE;
/** Has it moved there? */
bool mk_reply_has_large_room(const struct mk_reply *p);
/** A head of this request is complete or given up. */
void mk_head_room_free(const struct mk_request *r);

/** Ready-made field lines with their line ends. */
void mk_reply_lines(struct mk_reply *p, struct mk_str lines);
/** The site's lines that depend on the request (site->has_late_lines): over TLS alone, or with variables. */
void mk_reply_late_lines(struct mk_reply *p);
/** The site's lines, framing and the end, as mk_reply_end. @return 0; MK_E_LIMIT: the head is too large; MK_E_PEER; an error of a filter: the answer is broken off. */
int mk_reply_finish(struct mk_reply *p, int64_t length) MK_MUST_USE;
/** The same without the site's lines, for heads whose ready-made lines hold them. */
int mk_reply_finish_plain(struct mk_reply *p, int64_t length) MK_MUST_USE;

/** An interim response (RFC 9110 section 15.2): its status line alone. @return 0 or MK_E_PEER. */
int mk_reply_start_interim(struct mk_reply *p, struct mk_request *r, unsigned status) MK_MUST_USE;
/** Its end; a client of HTTP/1.0 does not get it. @return 0 or MK_E_LIMIT. */
int mk_reply_finish_interim(struct mk_reply *p) MK_MUST_USE;

/** A head that is being written is none. */
static inline void mk_reply_forget(struct mk_request *r)
{
    r->status = 0;
    mk_head_room_free(r);
    if (r->answering == MK_ANSWERING_HEAD)
        mk_answering_go(r, MK_ANSWERING_NONE);
}

/** A head was begun and not ended: a page takes its place. */
void mk_reply_instead(struct mk_request *r);
/** Before a request goes on: what was answered from outside, or broken off, waits for no hook any more. */
static inline void mk_reply_note(struct mk_request *r)
{
    if (r->answering == MK_ANSWERING_HEAD)
        mk_reply_instead(r);
    if (r->answering != MK_ANSWERING_NONE)
        mk_asking_unpark(r);
}

/** The answer cannot be finished: what was true of it may leave, and the connection closes. */
void mk_reply_break(struct mk_request *r);

/** Takes over the reference. @return 0 or MK_E_NOMEM. */
int mk_reply_file(struct mk_request *r, struct mk_file *file, uint64_t at,
                  uint64_t end) MK_MUST_USE;

/** A small HTML page, or the site's own for this status. Closes the connection afterwards when close is set. */
void mk_reply_page(struct mk_request *r, unsigned status, bool close);
/** The same for a reason of the table, which is logged and counted. */
void mk_reply_refuse(struct mk_request *r, enum mk_refusal refusal);
/** Log and count a reason of the table; it is the request's from now on. @return its status. */
unsigned mk_reply_note_refusal(struct mk_request *r, enum mk_refusal refusal);
/** 416 with the size of the representation, RFC 9110 section 14.4. */
void mk_reply_range_error(struct mk_request *r, uint64_t size);
/** What OPTIONS gets: 204 and the methods that files know. */
void mk_reply_options(struct mk_request *r);

#endif
