/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REMOTE_ADDRESS_H
#define MK_DUDA_REMOTE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* For packages that ask servers: where one is. */

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

/**
 * Find the address of a host: a name, or a numeric address without brackets. It blocks while the C library looks the name up.
 * @return 0; -1: there is none
 */
int address_find(struct address *a, const char *host, unsigned port);

/** Set it to an address of IPv4 or IPv6, with its port. */
void address_set(struct address *a, const struct sockaddr *place, socklen_t len);

/** Begin to connect. @return a socket that neither blocks nor is inherited, connected or connecting; -1: errno says why */
int address_connect(const struct address *a);

#endif
