/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/nets/net_list.h"

struct net_item {
    struct net_item *next;
    struct net net;
};

int net_list_add(struct mk_setup *setup, struct net_list *g, const struct net *net)
{
    struct net_item *one = mk_setup_alloc(setup, sizeof(*one));

    if (!one)
        return MK_E_NOMEM;
    *one = (struct net_item){g->first, *net};
    g->first = one;
    g->count++;
    return 0;
}

int net_list_join(struct mk_setup *setup, const struct net_list *g, struct nets *nets)
{
    struct nets_node *nodes = mk_setup_alloc(setup, NETS_NODES(g->count) * sizeof(*nodes));

    if (!nodes)
        return MK_E_NOMEM;
    nets_init(nets, nodes);
    for (const struct net_item *one = g->first; one; one = one->next)
        nets_add(nets, &one->net, 0);
    return 0;
}
