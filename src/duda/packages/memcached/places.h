/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_MEMCACHED_PLACES_H
#define MK_DUDA_MEMCACHED_PLACES_H

#include "bounds.h"

#include "remote/address.h"

/**
 * Read addresses with blanks between them.
 * @param text    borrowed; NULL is an error
 * @param places  room for MEMC_SERVERS_MAX
 * @return their number, at least 1; -1: one is not numeric or there twice, or there are none or too many
 */
int memc_places_read(const char *text, struct address *places);

#endif
