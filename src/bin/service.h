/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_SERVICE_H
#define MK_BIN_SERVICE_H

#include "keeper_client.h"
#include "options.h"

/* The server at work: signals on one side, its end on the other. */

struct mk_service {
    struct mk_server *server;
    const struct mk_options *options;
    const struct mk_host *host;
    struct mk_keeper_client *keeper;
    int signals; /* of mk_signals_open */
    unsigned grace_ms;
    bool stopping;
};

/** Serve until the end. @return the exit code. */
int mk_service_run(struct mk_service *service) MK_MUST_USE;

#endif
