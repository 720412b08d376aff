/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/via.h"

#include "base/str.h"
#include "setup/snapshot.h"

/* Transports by name: each is that of a plugin, liana included. What talks to backends has this function too. */

bool mk_via_find(struct mk_via *via, const struct mk_snapshot *s, struct mk_str name)
{
    for (size_t i = 0; i < s->nplugins; i++) {
        const struct mk_plugin *plugin = s->plugins[i].plugin;

        if (plugin->transport && mk_str_ieq(name, mk_str_from(plugin->name))) {
            *via = (struct mk_via){.transport = plugin->transport, .plugin = (uint16_t)i};
            return true;
        }
    }
    return false;
}
