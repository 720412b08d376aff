/* SPDX-License-Identifier: Apache-2.0 */
#include "server/worker/shared.h"

#include "base/limits.h"
#include "server/worker/worker.h"

#include <stdarg.h>
#include <stdio.h>

void mk_shared_connection_ended(struct mk_shared *shared, const struct mk_peer *peer)
{
    atomic_fetch_sub_explicit(&shared->connections, 1, memory_order_relaxed);
    mk_per_address_put(&shared->per_address, peer);
}

bool mk_shared_has_room(const struct mk_shared *shared, uint64_t bytes)
{
    uint64_t held = atomic_load_explicit(&shared->asked, memory_order_relaxed);
    uint64_t max = (uint64_t)atomic_load_explicit(&shared->max_memory, memory_order_relaxed);

    for (unsigned i = 0; i < shared->nworkers; i++)
        held += atomic_load_explicit(&shared->workers[i]->held, memory_order_relaxed);
    return held <= max && bytes <= max - held;
}

void mk_shared_set_asks(struct mk_shared *shared, enum mk_ask_state state)
{
    pthread_mutex_lock(&shared->asks.lock);
    shared->asks.state = state;
    pthread_mutex_unlock(&shared->asks.lock);
}

bool mk_server_logs(struct mk_server *server, enum mk_log_level level)
{
    return mk_log_wants(&mk_shared_of(server)->log, level, MK_LOG_PLUGIN);
}

void mk_server_log(struct mk_server *server, enum mk_log_level level, const char *fmt, ...)
{
    struct mk_log *log = &mk_shared_of(server)->log;
    char text[MK_LIMIT_LOG_LINE];
    va_list args;

    if (!mk_server_logs(server, level))
        return;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    mk_log(log, level, MK_LOG_PLUGIN, "%s", text);
}
