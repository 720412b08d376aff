/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_NETS_H
#define KIT_NETS_H

#include <monkey/types.h>

#include <stdbool.h>

/*
 * Networks, each with a number, in a binary trie with compressed paths: finding the lowest number of
 * all networks that an address lies in takes at most 128 steps, however many there are.
 */

struct net {
    uint8_t ip[16]; /* IPv4 as IPv4-mapped IPv6; bits behind the prefix are 0 */
    uint8_t bits;   /* of 128; IPv4 networks count from 96 */
};

enum { NETS_NONE = INT32_MAX };

struct nets_node {
    struct net net;
    uint32_t rule;     /* of this very network; NETS_NONE: it only joins two others */
    uint32_t child[2]; /* by the bit behind the prefix; 0: none */
};

struct nets {
    struct nets_node *nodes; /* the caller's, room for NETS_NODES(n) */
    uint32_t used;
};

/** Nodes that n networks may need: one each, one for each that joins two, and the root. */
#define NETS_NODES(n) (2 * (n) + 1)

/**
 * Read "address" or "address/bits", IPv4 or IPv6.
 * @param loose  out: bits behind the prefix were set, and were cleared
 * @return 0 or MK_E_BAD.
 */
int net_parse(struct mk_str text, struct net *net, bool *loose) MK_MUST_USE;

/** Does the address lie in it? */
bool net_has(const struct net *net, const uint8_t ip[16]);

/** An empty set in zeroed nodes. */
void nets_init(struct nets *nets, struct nets_node *nodes);

/** Add a network; a second one that is the same keeps the lower number. */
void nets_add(struct nets *nets, const struct net *net, uint32_t rule);

/** @return the lowest number of the networks that the address lies in; NETS_NONE. */
uint32_t nets_find(const struct nets *nets, const uint8_t ip[16]);

#endif
