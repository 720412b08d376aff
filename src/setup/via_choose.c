/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "setup/plugin.h"

#include <monkey/protocol.h>

/* Which transport and which protocol each Listen line has. */

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

static void check_protocol(const struct mk_listen *l, const struct mk_snapshot_source *source,
                           struct mk_setup *ctx)
{
    if (l->protocol &&
        !(l->via.protocol && mk_str_ieq(mk_str_from(l->protocol), l->via.protocol->name)))
        mk_fault_add(ctx->faults, &l->setting->value_at,
                     "Listen: the flag \"%s\" needs the plugin http2: %s", l->protocol,
                     mk_plugin_absence(source, MK_STR("http2"), ctx));
    else if (l->has_no_http && !l->via.protocol)
        mk_fault_add(
            ctx->faults, &l->setting->value_at,
            "Listen: \"!http\" leaves no protocol: add h2, or a secure transport and [HTTP2]");
}

static void refuse_flag(const struct mk_listen *l, const struct mk_snapshot *s,
                        const struct mk_snapshot_source *source, struct mk_setup *ctx)
{
    const struct mk_str name = mk_str_from(l->transport);

    mk_fault_add(ctx->faults, &l->setting->value_at,
                 "Listen: the flag \"%s\" is neither proxy nor h2 nor a transport: %s",
                 l->transport,
                 mk_plugins_find(s, name) ? "the plugin of that name is none"
                                          : mk_plugin_absence(source, name, ctx));
}

void mk_via_choose(struct mk_snapshot *s, const struct mk_snapshot_source *source,
                   struct mk_setup *ctx)
{
    struct mk_server_settings *set = &s->set;
    struct mk_via usual = {.transport = NULL};

    if (!mk_via_find(&usual, s, mk_str_from(set->transport)))
        mk_fault_add(ctx->faults, &set->transport_at,
                     "TransportLayer: \"%s\" needs the plugin of that name: %s", set->transport,
                     mk_plugin_absence(source, mk_str_from(set->transport), ctx));
    for (size_t i = 0; i < set->nlistens; i++) {
        struct mk_listen *l = &set->listens[i];

        l->via = usual;
        if (l->transport && !mk_via_find(&l->via, s, mk_str_from(l->transport)))
            refuse_flag(l, s, source, ctx);
        if (l->via.transport) {
            offer(&l->via, s, l);
            check_protocol(l, source, ctx);
        }
        l->via.site = l->site;
    }
}
