/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REDIS_SECURE_H
#define MK_DUDA_REDIS_SECURE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * TLS to a server, by OpenSSL: bytes in and records out, without a socket. The server's certificate is verified, for the host
 * of its URL. A build without the library has no TLS.
 */

struct redis_trust;
struct redis_secure;

/**
 * Whose certificates are believed; for all connections of a client, on any thread.
 * @param ca   a file of certificates; "": those of the system
 * @param why  out: what is wrong, for people
 * @return owned by the caller; NULL: *why
 */
struct redis_trust *redis_trust_new(const char *ca, const char **why);
/** NULL is allowed. */
void redis_trust_free(struct redis_trust *trust);

/** @param host  a name, or a numeric address. @return NULL: no memory */
struct redis_secure *redis_secure_new(struct redis_trust *trust, const char *host);
/** NULL is allowed. */
void redis_secure_free(struct redis_secure *s);

/** Bytes that came from the socket. @return 0; -1: no memory */
int redis_secure_feed(struct redis_secure *s, const char *bytes, size_t len);
/** Go on with the handshake. @return 1: it is over; 0: more bytes are needed; -1: redis_secure_why() */
int redis_secure_shake(struct redis_secure *s);
/** @return bytes that were sent, > 0; 0: none yet; -1: redis_secure_why(), or the server has ended it */
ssize_t redis_secure_read(struct redis_secure *s, char *to, size_t len);
/** Make records of bytes. @return 0; -1: redis_secure_why() */
int redis_secure_write(struct redis_secure *s, const char *bytes, size_t len);

/** @return how many bytes of records wait to be sent. @param p  out: the first ones, borrowed */
size_t redis_secure_pending(struct redis_secure *s, char **p);
void redis_secure_sent(struct redis_secure *s, size_t n);

/** Why a call has failed; static, or of s. */
const char *redis_secure_why(struct redis_secure *s);

#endif
