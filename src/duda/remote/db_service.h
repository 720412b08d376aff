/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REMOTE_DB_SERVICE_H
#define MK_DUDA_REMOTE_DB_SERVICE_H

#undef DUDA_API_LEVEL
#define DUDA_API_LEVEL 3 /* gc->call, timer, global->init_with_end */
#include "duda_api.h"

#include "data/sql/database.h"

/* For packages that ask databases: what services have of data/sql. */

/** A package with a driver. Pools have their targets until the process ends: a package does not learn of its service's end. */
struct db_package {
    const struct db_driver *driver;
    duda_global_t homes;       /* of each worker */
    struct db_target *targets; /* of pools; duda_main() alone adds some */
};

/** At the beginning of the package. */
void db_package_begin(struct db_package *package);

/** @return what this worker has; NULL: nothing yet */
struct db_home *db_home(const struct db_package *package);
/** Likewise, made if it is missing. @return NULL: no memory, or not a worker */
struct db_home *db_home_made(const struct db_package *package);

/** @return whether it is a connection of this worker */
bool db_conn_is_alive(const struct db_package *package, const void *conn);
/** @return whether it takes queries of the service */
bool db_conn_is_usable(const struct db_package *package, const void *conn);
/** @return 0; -1: refused */
int db_conn_time_limit(const struct db_package *package, struct db_conn *c, unsigned ms);

/** Takes the target, which may be NULL. @return 0; -1: refused, and it is not taken */
int db_pool_create(struct db_package *package, duda_global_t *pool, int min, int max,
                   struct db_target *t);
/** @return the target of a pool that was created; NULL: none */
struct db_target *db_pool_target(const struct db_package *package, const duda_global_t *pool);
/** @return 0; -1: no such pool, or too short */
int db_pool_time_limit(const struct db_package *package, const duda_global_t *pool, unsigned ms);
/** @return 0; -1: no such pool, or more than DB_WAITING_MOST */
int db_pool_queue(const struct db_package *package, const duda_global_t *pool, unsigned most);
/** @return the pool of this worker; NULL: there is none */
struct db_pool *db_pool_of(const struct db_package *package, duda_global_t *pool);

#endif
