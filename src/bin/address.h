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
    bool every; /* a port alone: every address, IPv6 and IPv4 */
    union {
        struct sockaddr sa;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        struct sockaddr_un un;
    };
};

/** Read "PORT", "ip:PORT", "[v6]:PORT" or "unix:/path". @return false: it is none of them. */
bool mk_address_parse(const char *text, struct mk_address *address);

/**
 * A socket bound to the address but not listening, non-blocking and close-on-exec.
 * @param share  with SO_REUSEPORT
 * @return the descriptor, or -1 with errno. The file of a unix socket is replaced when nobody
 *         serves it; its directory may be changed by nobody but root and us (else EACCES).
 */
int mk_address_bind(const char *text, bool share);

#endif
