/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_MEMCACHED_PLACES_H
#define MK_DUDA_MEMCACHED_PLACES_H

#include "bounds.h"

#include "data/remote/place.h"

/**
 * Read the places of servers with blanks between them.
 * @param text    borrowed; NULL is an error
 * @param places  out: owned by the caller, for free(); NULL after an error
 * @param why     out: which text is wrong, and how, for people; unchanged without an error
 * @return their number, at least 1; -1
 */
int memc_places_read(const char *text, struct remote_place **places, char why[MEMC_WHY_MAX]);

#endif
