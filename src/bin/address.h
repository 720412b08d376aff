/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_ADDRESS_H
#define MK_BIN_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

/* The address of a Listen line, without flags. */

struct mk_address {
    socklen_t len;
    union {
        struct sockaddr sa;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        struct sockaddr_un un;
    };
};

/** Read "PORT" (every address, IPv6 and IPv4), "ip:PORT", "[v6]:PORT" or "unix:/path". @return false: it is none of them. */
bool mk_address_parse(const char *text, struct mk_address *address);

enum { MK_ADDRESS_TEXT = 128 }; /* room for any address as text */

/**
 * The one way of writing an address that has several, such as "80" and "[::]:80".
 * @return dst, or text itself when it is no address.
 */
const char *mk_address_canonical(const char *text, char dst[MK_ADDRESS_TEXT]);

/** Remove the file of a unix socket that nobody serves any more. */
void mk_address_remove_stale(const char *text);

/**
 * A socket bound to the address but not listening, non-blocking and close-on-exec.
 * @param share  with SO_REUSEPORT
 * @return the descriptor, or -1 with errno. The file of a unix socket is replaced when nobody
 *         serves it; its directory may be changed by nobody but root and us (else EACCES).
 */
int mk_address_bind(const char *text, bool share);

#endif
