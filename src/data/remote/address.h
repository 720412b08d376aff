/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DATA_REMOTE_ADDRESS_H
#define MK_DATA_REMOTE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

/* Where a server is. */

enum { ADDRESS_TEXT_MAX = 64 };

struct address {
    char text[ADDRESS_TEXT_MAX]; /* as it was written: "127.0.0.1:11211", "[::1]:11211" */
    struct sockaddr_storage place;
    socklen_t len;
};

/** Read an address with its port. @return 0; -1: it is not numeric, or has no port */
int address_read(struct address *a, const char *text, size_t len);

/** @return whether it is an address of IPv4 or IPv6, without a port */
bool address_is_numeric(const char *host, size_t len);

/** @return whether it can be looked up. What consists of digits and dots and is no address was meant to be one. */
static inline bool host_is_name(const char *host)
{
    for (const char *at = host; *at; at++) {
        if (*at <= ' ' || *at > '~' || strchr("/@?#%[]\\:,", *at))
            return false;
    }
    return host[strspn(host, "0123456789.")] != '\0';
}

#endif
