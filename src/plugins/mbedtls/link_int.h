/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MBED_LINK_INT_H
#define MBED_LINK_INT_H

#include "link.h"

/* ---- say.c: words for the log ---- */

/** A peer can make such lines come as fast as it connects, so only one a second is written. */
void mbed_complain(struct mbed_link *t, enum mk_log_level level, const char *what,
                   const char *reason);
/** @param err  of the library */
void mbed_complain_of_handshake(struct mbed_link *t, int err);
/** The link is broken. @return MK_E_PEER. */
ssize_t mbed_fail(struct mbed_link *t, const char *what, const char *reason);
ssize_t mbed_fail_by(struct mbed_link *t, const char *what, int err);

/* ---- shake.c ---- */

/** The library comes in, with its buffers. @return 0 or MK_E_NOMEM. */
int mbed_begin_library(struct mbed_link *t) MK_MUST_USE;
struct mbed_face *mbed_face_of_site(const struct mbed_worker *w, const struct tls_site *site);
/** What was written leaves; waits_for says when it did not. @return as tls_outlet_send. */
int mbed_flush(struct mk_link *l) MK_MUST_USE;
/** Go on with the handshake. @return 0: the link is open; MK_E_AGAIN, waits_for says for what; MK_E_PEER. */
int mbed_ready(struct mk_link *l) MK_MUST_USE;

/* ---- wire.c ---- */

/** The library's call-backs, with a struct mbed_link. */
int mbed_wire_send(void *link, const unsigned char *bytes, size_t len);
int mbed_wire_recv(void *link, unsigned char *bytes, size_t len);
/**
 * What the library wrote since the last call leaves.
 * @return as tls_outlet_send.
 */
int mbed_wire_flush(struct mbed_link *t, size_t bytes, bool more, size_t *told) MK_MUST_USE;

/* ---- trim.c ---- */

/** Nothing is being read or written: give back what memory of the library's buffers holds nothing. */
void mbed_trim(struct mbed_link *t);

/* ---- input.c, output.c: of struct mk_transport ---- */

ssize_t mbed_link_recv(struct mk_link *l, void *buf, size_t len);
ssize_t mbed_link_send(struct mk_link *l, const struct iovec *iov, int niov, bool more);
ssize_t mbed_link_sendfile(struct mk_link *l, int fd, uint64_t offset, size_t len);

#endif
