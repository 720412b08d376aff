/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOAD_TLS_H
#define LOAD_TLS_H

#include <sys/types.h>

/*
 * TLS for the load client, on OpenSSL where it was compiled with it (LOAD_TLS). The server's certificate is not
 * looked at. A channel is made on a connecting or connected socket and shakes hands inside send and recv, which
 * are like those of sockets: -1 and EAGAIN: not now.
 */
struct channel;

/** resume: each connection offers the newest session that came, if one has. @return -1: this client has no TLS. */
int channel_init(int resume);
struct channel *channel_new(int fd);
ssize_t channel_send(struct channel *ch, const void *p, size_t len);
ssize_t channel_recv(struct channel *ch, void *p, size_t len);
/** The socket stays open. NULL is allowed. */
void channel_free(struct channel *ch);
/** Handshakes that ended well since the last call, and how many of them resumed a session. */
void channel_counts(long *handshakes, long *resumed);

#endif
