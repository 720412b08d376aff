/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CGI_SPAWNER_H
#define CGI_SPAWNER_H

#include <monkey/events.h>

/*
 * The line to a monkey-palm, which starts scripts: wire.h. One for each user that scripts run as, shared by all workers;
 * one mutex. When it is found dead it is started again, by whoever has the rights, on a thread that may block.
 */

struct spawner;

/** @param name  "USER:PROGRAM". @return it with one reference, not started; NULL without memory. */
struct spawner *cgi_spawner_new(struct mk_server *server, const char *name);
const char *cgi_spawner_name(const struct spawner *s);
struct spawner *cgi_spawner_get(struct spawner *s);
/** The last one ends the program and its scripts. NULL is allowed. */
void cgi_spawner_put(struct spawner *s);

/** Start the program, if it is not running. Blocks; control thread. @return 0 or an error. */
int cgi_spawner_open(struct spawner *s) MK_MUST_USE;

/**
 * Hand over the line of a script. It stays the caller's.
 * @return 0; MK_E_AGAIN: the program is being started, or cannot keep up: come again soon.
 */
int cgi_spawner_send(struct spawner *s, struct mk_worker *w, int line) MK_MUST_USE;

/** A line was closed without a report: is the program still there? If not it is started again. */
void cgi_spawner_look(struct spawner *s, struct mk_worker *w);

#endif
