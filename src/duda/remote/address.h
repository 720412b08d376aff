/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REMOTE_ADDRESS_H
#define MK_DUDA_REMOTE_ADDRESS_H

#include <stddef.h>
#include <sys/socket.h>

/*
 * For packages that ask servers: where one is. Addresses are numeric: the C library blocks while it looks up a name.
 */

enum { ADDRESS_TEXT_MAX = 64 };

struct address {
    char text[ADDRESS_TEXT_MAX]; /* as it was written: "127.0.0.1:11211", "[::1]:11211" */
    struct sockaddr_storage place;
    socklen_t len;
};

/** Read an address with its port. @return 0; -1: it is not numeric, or has no port */
int address_read(struct address *a, const char *text, size_t len);

/** Begin to connect. @return a socket that neither blocks nor is inherited, connected or connecting; -1: errno says why */
int address_connect(const struct address *a);

#endif
