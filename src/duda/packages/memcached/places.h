/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_MEMCACHED_PLACES_H
#define MK_DUDA_MEMCACHED_PLACES_H

#include "bounds.h"

#include <sys/socket.h>

/* Where a server is. */
struct memc_place {
    char text[MEMC_ADDRESS_MAX]; /* as the service wrote it: "127.0.0.1:11211", "[::1]:11211" */
    struct sockaddr_storage address;
    socklen_t len;
};

/**
 * Read addresses with blanks between them.
 * @param text    borrowed; NULL is an error
 * @param places  room for MEMC_SERVERS_MAX
 * @return their number, at least 1; -1: one is not numeric or there twice, or there are none or too many
 */
int memc_places_read(const char *text, struct memc_place *places);

#endif
