/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SERVER_FIXTURE_H
#define TESTS_SERVER_FIXTURE_H

/*
 * What tests of the server stand on: a plan, a directory of files that goes away again, and a server of one worker
 * whose thread is never started.
 */

#include "folder.h"
#include "plan.h"

#include "server/run/server_int.h"

struct fixture {
    struct plan plan;
    char dir[32];
    struct mk_server *server;
    struct mk_worker *worker;
    long live; /* mk_heap_live before all */
};

/** A server of one worker for a site below f->dir, which exists already; rows may be NULL. */
void fixture_open(struct fixture *f, const struct row *rows);
/** Fails the test when memory was lost. */
void fixture_close(struct fixture *f);

/** Let a plugin of the test answer what the site's one line of [HANDLERS] matches, in place of the plugin named there. */
void fixture_handle(struct fixture *f, const struct mk_plugin *plugin, void *data);

#endif
