/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/server_int.h"

#include "base/limits.h"

#include <sys/resource.h>
#include <unistd.h>

/* How many connections and open files there may be, by the settings and by the descriptors there are. */

enum {
    FILES_MIN = 8,
    DESCRIPTORS_BASE = 16, /* standard streams, logs, loops, a spare or two */
    DESCRIPTORS_WORKER = 6,
    CONNECTIONS_MIN = 4,
    MEMORY_SHARE = 4, /* of the machine's may wait for clients */
};

static int64_t descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return 1 << 20;
    return (int64_t)limit.rlim_cur;
}

void mk_server_share_descriptors(struct mk_server *server)
{
    int64_t share = descriptor_limit() / 8 / server->shared.nworkers;

    server->shared.files_per_worker = share < FILES_MIN             ? FILES_MIN
                                      : share > MK_LIMIT_OPEN_FILES ? MK_LIMIT_OPEN_FILES
                                                                    : (size_t)share;
}

/* Without MaxConnections: what leaves descriptors for files, so that accepting does not starve serving. */
static int64_t max_connections(const struct mk_server *server, const struct mk_server_settings *set)
{
    int64_t workers = server->shared.nworkers;
    int64_t max = descriptor_limit() - DESCRIPTORS_BASE -
                  workers * (DESCRIPTORS_WORKER + (int64_t)set->nlistens +
                             (int64_t)server->shared.files_per_worker);

    if (max < CONNECTIONS_MIN)
        max = CONNECTIONS_MIN;
    return set->max_connections > 0 && set->max_connections < max ? set->max_connections : max;
}

/* Without MaxMemory: generous, but less than the machine has. */
static int64_t max_memory(const struct mk_server_settings *set)
{
    int64_t machine = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);

    return set->max_memory > 0 ? set->max_memory : machine / MEMORY_SHARE;
}

/* By default whoever has a connection may wait, and a crowd of streams over few connections. */
static unsigned handler_queue(struct mk_server *server, const struct mk_server_settings *set)
{
    const int64_t connections = atomic_load(&server->shared.max_connections);

    if (set->handler_queue > 0)
        return (unsigned)set->handler_queue;
    return connections > MK_LIMIT_HANDLER_QUEUE ? (unsigned)connections : MK_LIMIT_HANDLER_QUEUE;
}

void mk_server_apply_limits(struct mk_server *server, const struct mk_snapshot *snapshot)
{
    const struct mk_server_settings *set = &snapshot->set;

    atomic_store(&server->shared.max_connections, max_connections(server, set));
    mk_offload_pool_limit(&server->shared.offload[MK_WORK_HANDLER], handler_queue(server, set));
    atomic_store(&server->over_capacity, set->over_capacity);
    atomic_store(&server->shared.max_memory, max_memory(set));
    /* Of several, which one a body is for shows when its head is read. */
    atomic_store(&server->shared.max_body_size,
                 snapshot->is_divided ? INT64_MAX : snapshot->sites->set.max_body_size);
    atomic_store(&server->shared.per_address.max, set->max_connections_per_ip);
    mk_log_set_levels(&server->shared.log, set->log.level, set->log.traced, set->log.traced_level);
}
