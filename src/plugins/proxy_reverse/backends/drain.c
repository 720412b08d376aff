/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/drain.h"

#include "backends/backend_int.h"

void proxy_drain(const struct proxy_entry *entry, unsigned i, bool drains)
{
    struct proxy_backend *b = entry->group->backends[i];

    if (atomic_exchange(&b->state->is_drained, drains) != drains)
        mk_server_log(b->server, MK_LOG_INFO, "proxy: backend %s entry=%s backend=%s",
                      drains ? "drained" : "undrained", b->entry, b->name);
}

bool proxy_all_drained(const struct proxy_entry *entry)
{
    const struct proxy_group *g = entry->group;
    unsigned i = 0;

    while (i < g->n && proxy_backend_is_drained(g->backends[i]))
        i++;
    return i == g->n;
}
