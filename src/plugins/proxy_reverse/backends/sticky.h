/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_STICKY_H
#define PROXY_STICKY_H

/*
 * Names of backends for the cookies of clients: 64 bits of a code (HMAC-SHA-256, RFC 2104) of the name in ServerList. Who has not
 * the key learns no address by it, not by trying all there are either. Pure.
 */

enum { PROXY_STICKY_LEN = 16 };

/** @param key  terminated, not empty @param dst  hexadecimal digits, not terminated */
void proxy_sticky_write(char dst[PROXY_STICKY_LEN], const char *key, const char *backend);

#endif
