/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_ROUTE_STAGE_H
#define MK_SERVER_ROUTE_STAGE_H

#include "setup/snapshot.h"

/*
 * Asking the plugins: each stage's hooks in their order, and what their verdicts lead to. A verdict that
 * there is none, or that does not fit what the plugin did, is logged and answered with 500.
 */

struct mk_request;

/** Where a request waits for a plugin that said LATER. */
enum mk_stage {
    MK_STAGE_NONE,
    MK_STAGE_REQUEST,   /* 20 */
    MK_STAGE_HANDLE,    /* 30: a route */
    MK_STAGE_DIRECTORY, /* 30: a directory without index file */
};

/** Stage 20, from a hook on. @return true when one answered or waits: nobody else is to be asked. */
bool mk_stage_request(struct mk_request *r, size_t from);

/** Stage 30: ask the handler of the site's route i. @return as above. */
bool mk_stage_handle(struct mk_request *r, size_t i);

/** Stage 30 for a directory; open gives its descriptor when a hook is there to want it. @return as above. */
bool mk_stage_directory(struct mk_request *r, int (*open)(void *arg), void *arg);

/** Stage 40. */
void mk_stage_finish(struct mk_request *r);

#endif
