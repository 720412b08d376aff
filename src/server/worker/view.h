/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_WORKER_VIEW_H
#define MK_SERVER_WORKER_VIEW_H

#include "server/files/files.h"
#include "setup/snapshot.h"

struct mk_worker;

enum { MK_PLUGIN_WHY = 256 };

/** A worker's own side of a snapshot: the open-file table and the contexts of plugins. Lives as long as a request needs it. */
struct mk_view {
    struct mk_snapshot *snapshot; /* a reference */
    unsigned users;               /* requests, and 1 while it is the worker's current one */
    bool side;                    /* which of a listener's transports belongs to it */
    struct mk_files files;
    struct mk_context *contexts; /* of the plugins: a row for each site */
    size_t nbegun;               /* plugins whose worker_start succeeded, from the first */
};

static inline const struct mk_context *mk_view_context(const struct mk_view *view,
                                                       const struct mk_site *site, unsigned plugin)
{
    return &view->contexts[site->index * view->snapshot->nplugins + plugin];
}

/** @return a view of a snapshot, of which it takes a reference; or NULL without memory. Any thread. */
struct mk_view *mk_view_new(struct mk_worker *w, struct mk_snapshot *snapshot,
                            bool side) MK_MUST_USE;
/** The last one ends it: on its worker, or when that has ended. */
void mk_view_put(struct mk_view *view);

/** worker_start of each plugin, on the worker's thread before it serves. @return 0, or an error with nothing left begun; w->why. */
int mk_view_begin(struct mk_view *view, struct mk_worker *w) MK_MUST_USE;
/** Put the sentence that a plugin cannot start in the place of what it said itself, or of nothing. */
void mk_plugin_failed(char why[MK_PLUGIN_WHY], const struct mk_plugin *plugin, int err);
/** worker_stop of those that began. */
void mk_view_end(struct mk_view *view);

#endif
