/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/via.h"

#include "base/str.h"
#include "setup/snapshot.h"

/* Choice of transports: each is that of a plugin, liana included. */

bool mk_via_find(struct mk_via *via, const struct mk_snapshot *s, struct mk_str name)
{
    for (size_t i = 0; i < s->nplugins; i++) {
        const struct mk_plugin *plugin = s->plugins[i].plugin;

        if (plugin->transport && mk_str_ieq(name, mk_str_from(plugin->name))) {
            *via = (struct mk_via){.transport = plugin->transport, .plugin = (unsigned)i};
            return true;
        }
    }
    return false;
}

static bool is_known_elsewhere(struct mk_str name)
{
    return mk_str_ieq(name, MK_STR("tls")) || mk_str_ieq(name, MK_STR("mbedtls"));
}

static void refuse_flag(const struct mk_listen *l, struct mk_setup *ctx)
{
    if (is_known_elsewhere(mk_str_from(l->transport)))
        mk_fault_add(ctx->faults, &l->setting->value_at,
                     "Listen: the flag \"%s\" needs the plugin of that name, which is not loaded",
                     l->transport);
    else
        mk_fault_add(ctx->faults, &l->setting->value_at,
                     "Listen: unknown flag \"%s\"; expected proxy, or the name of a transport",
                     l->transport);
}

void mk_via_choose(struct mk_snapshot *s, struct mk_setup *ctx)
{
    struct mk_server_settings *set = &s->set;
    struct mk_via usual = {.transport = NULL};

    if (!mk_via_find(&usual, s, mk_str_from(set->transport)))
        mk_fault_add(ctx->faults, &set->transport_at,
                     "TransportLayer: \"%s\" needs the plugin of that name, which is not loaded; "
                     "except liana, which is built in",
                     set->transport);
    for (size_t i = 0; i < set->nlistens; i++) {
        struct mk_listen *l = &set->listens[i];

        l->via = usual;
        if (l->transport && !mk_via_find(&l->via, s, mk_str_from(l->transport)))
            refuse_flag(l, ctx);
    }
}
