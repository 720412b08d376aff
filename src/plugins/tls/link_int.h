/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TLS_LINK_INT_H
#define TLS_LINK_INT_H

#include "link.h"

/* ---- shake.c ---- */

/** A line for the log; one a second, since a peer can make them come as fast as it connects. */
void link_complain(struct tls_link *t, enum mk_log_level level, const char *what,
                   const char *reason);
/** It broke, for the reason that OpenSSL noted. @return MK_E_PEER. */
ssize_t link_fail(struct tls_link *t, const char *what);
/** Send what was written; waits_for says whether some of it waits. @return as pipe_flush. */
int link_flush(struct mk_link *l);
/** Shake hands as far as it goes. @return 0: the link is open; MK_E_AGAIN, waits_for says for what; MK_E_PEER. */
int link_ready(struct mk_link *l);

/* ---- input.c, output.c: as in <monkey/transport.h> ---- */

ssize_t link_recv(struct mk_link *l, void *buf, size_t len);
ssize_t link_send(struct mk_link *l, const struct iovec *iov, int niov, bool more);
ssize_t link_sendfile(struct mk_link *l, int fd, uint64_t offset, size_t len);

#endif
