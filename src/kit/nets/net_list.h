/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_NETS_NET_LIST_H
#define KIT_NETS_NET_LIST_H

#include "kit/nets/nets.h"

#include <monkey/plugin.h>

/* Networks that lines of a section name one after the other, until a set can be made of them. While a configuration is checked. */

struct net_item;

/** Zeroed at first. Its memory is the configuration's. */
struct net_list {
    struct net_item *first;
    uint32_t count;
};

/** @return 0 or MK_E_NOMEM. */
int net_list_add(struct mk_setup *setup, struct net_list *g, const struct net *net) MK_MUST_USE;

/** The set of them, perhaps an empty one, in the configuration's memory; all have the number 0. @return 0 or MK_E_NOMEM. */
int net_list_join(struct mk_setup *setup, const struct net_list *g, struct nets *nets) MK_MUST_USE;

#endif
