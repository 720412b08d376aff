/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CGI_YARD_H
#define CGI_YARD_H

#include "yard/pool.h"
#include "yard/spawner.h"

/*
 * What outlives a configuration: spawners, places, and on each worker the scripts that run. Its configurations hold
 * references.
 */

struct run;
struct yard;

enum { CREW_BUCKETS = 256 };

/** The scripts of a worker, by the ticket of their request. On its thread. */
struct crew {
    struct mk_worker *worker;
    struct run *runs[CREW_BUCKETS];
    unsigned users; /* configurations in force here */
};

/** @return it with one reference; NULL without memory or descriptors. Control thread. */
struct yard *cgi_yard_new(struct mk_server *server);
struct yard *cgi_yard_get(struct yard *yard);
/** Any thread. */
void cgi_yard_put(struct yard *yard);

struct crew *cgi_yard_crew(struct yard *yard, struct mk_worker *w);
/** A descriptor of /dev/null, borrowed. */
int cgi_yard_null(const struct yard *yard);

/** The spawner of this name, a reference; a new one is not started. @return NULL without memory. Control thread. */
struct spawner *cgi_yard_spawner(struct yard *yard, const char *name);
/** The places of this name, which live as long as the yard. @return NULL without memory. Control thread. */
struct pool *cgi_yard_pool(struct yard *yard, const char *name);

#endif
