/* SPDX-License-Identifier: Apache-2.0 */
#include "base/code.h"
#include "base/invariant.h"
#include "base/str.h"
#include "server/h1/conn.h"
#include "server/run/server_int.h"
#include "setup/host.h"

#include <monkey/inspect.h>
#include <monkey/plugin.h>

/* A running server, told to plugins. */

MK_AT_START void mk_server_facts(const struct mk_server *server, struct mk_server_facts *facts)
{
    const struct mk_host *host = server->shared.host;
    struct mk_server_facts all = {
        .size = facts->size,
        .started_s = server->made_s,
        .workers = server->shared.nworkers,
        .scheduler = server->acceptor ? "Fair" : "ReusePort",
        .snapshots = atomic_load(&server->snapshots),
        .reloads = atomic_load(&server->reloads),
        .reloads_failed = atomic_load(&server->reloads_failed),
        .log_level = atomic_load(&server->shared.log.level),
        .restarts = MK_HOST_HAS(host, restarts) ? host->restarts : 0,
        .restart_reason = MK_HOST_HAS(host, restart_reason) ? host->restart_reason : NULL,
        .is_stopping = atomic_load(&server->stop_at_ms) != INT64_MAX,
    };
    struct mk_clock clock = {0};

    mk_clock_update(&clock);
    all.uptime_ms = clock.mono_ms - server->made_ms;
    memcpy(facts, &all, facts->size < sizeof(all) ? facts->size : sizeof(all));
}

MK_AT_START int mk_server_log_level(struct mk_server *server, struct mk_str level)
{
    struct mk_log *log = &server->shared.log;
    struct mk_log_choice choice = {
        .level = atomic_load(&log->level),
        .traced_level = atomic_load(&log->traced_level),
        .traced = atomic_load(&log->traced),
    };

    if (mk_log_choice_read(level, &choice) < 0)
        return MK_E_INVALID;
    mk_log_set_levels(log, choice.level, choice.traced, choice.traced_level);
    return 0;
}
