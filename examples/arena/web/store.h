/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARENA_STORE_H
#define ARENA_STORE_H

#include <monkey/postgresql.h>

/**
 * Open the database of DATABASE_URL, with DATABASE_MAX_CONN connections of all workers together.
 * @return NULL: there is none, or it cannot be, which is told on stderr
 */
struct mk_postgresql *store_open(void);

/** GET /async-db?min=10&max=50&limit=20 @param database  NULL: there is none, and the list is empty */
enum mk_verdict store_list(struct mk_request *r, void *database);

#endif
