/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/via.h"

#include "base/str.h"
#include "setup/snapshot.h"

#include <monkey/protocol.h>

/* Choice of transports: each is that of a plugin, liana included. */

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

static bool is_known_elsewhere(struct mk_str name)
{
    return mk_str_ieq(name, MK_STR("tls")) || mk_str_ieq(name, MK_STR("mbedtls"));
}

/* The first that is loaded: an address offers one. */
static void offer(struct mk_via *via, const struct mk_snapshot *s, const struct mk_listen *l)
{
    for (size_t i = 0; i < s->nplugins && !via->protocol; i++) {
        via->protocol = s->plugins[i].plugin->protocol;
        via->protocol_plugin = (uint16_t)i;
    }
    via->has_no_http = l->has_no_http;
    via->is_spoken_at_once = l->protocol != NULL;
    if (l->has_no_h2 || (!via->transport->is_secure && !l->protocol))
        via->protocol = NULL; /* unwanted, or nobody could say that he speaks it */
}

static void check_protocol(const struct mk_listen *l, struct mk_setup *ctx)
{
    if (l->protocol &&
        !(l->via.protocol && mk_str_ieq(mk_str_from(l->protocol), l->via.protocol->name)))
        mk_fault_add(ctx->faults, &l->setting->value_at,
                     "Listen: the flag \"%s\" needs the plugin http2, which is not loaded",
                     l->protocol);
    else if (l->has_no_http && !l->via.protocol)
        mk_fault_add(
            ctx->faults, &l->setting->value_at,
            "Listen: \"!http\" leaves no protocol: Load http2, and add h2 or a secure transport");
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
                     "TransportLayer: \"%s\" needs the plugin of that name, which is not loaded",
                     set->transport);
    for (size_t i = 0; i < set->nlistens; i++) {
        struct mk_listen *l = &set->listens[i];

        l->via = usual;
        if (l->transport && !mk_via_find(&l->via, s, mk_str_from(l->transport)))
            refuse_flag(l, ctx);
        if (l->via.transport) {
            offer(&l->via, s, l);
            check_protocol(l, ctx);
        }
    }
}
