/* SPDX-License-Identifier: Apache-2.0 */
#include "nets.h"

#include <arpa/inet.h>

enum { ADDRESS_BITS = 128, IPV4_AT = 96, TEXT_MAX = 64 };

static unsigned bit_of(const uint8_t ip[16], unsigned at)
{
    return ip[at / 8] >> (7 - at % 8) & 1U;
}

/* How many bits from the first on are the same, at most max. */
static unsigned common_bits(const uint8_t a[16], const uint8_t b[16], unsigned max)
{
    unsigned at = 0;

    while (at + 8 <= max && a[at / 8] == b[at / 8])
        at += 8;
    while (at < max && bit_of(a, at) == bit_of(b, at))
        at++;
    return at;
}

/* @return whether a bit behind the prefix was set. */
static bool clear_behind(struct net *net)
{
    bool any = false;

    for (unsigned at = net->bits; at < ADDRESS_BITS; at++) {
        uint8_t mask = (uint8_t)(0x80U >> at % 8);

        any = any || (net->ip[at / 8] & mask);
        net->ip[at / 8] &= (uint8_t)~mask;
    }
    return any;
}

static int parse_bits(const char *text, unsigned max, unsigned *bits)
{
    unsigned value = 0;

    if (*text == '\0')
        return MK_E_BAD;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return MK_E_BAD;
        value = value * 10 + (unsigned)(*text - '0');
        if (value > max)
            return MK_E_BAD;
    }
    *bits = value;
    return 0;
}

int net_parse(struct mk_str text, struct net *net, bool *loose)
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    char copy[TEXT_MAX], *slash;
    unsigned first = 0, bits;

    if (text.len == 0 || text.len >= sizeof(copy))
        return MK_E_BAD;
    memcpy(copy, text.p, text.len);
    copy[text.len] = '\0';
    slash = strchr(copy, '/');
    if (slash)
        *slash = '\0';
    if (inet_pton(AF_INET, copy, net->ip + 12) == 1) {
        memcpy(net->ip, mapped, sizeof(mapped));
        first = IPV4_AT;
    } else if (inet_pton(AF_INET6, copy, net->ip) != 1) {
        return MK_E_BAD;
    }
    bits = ADDRESS_BITS - first;
    if (slash && parse_bits(slash + 1, bits, &bits) < 0)
        return MK_E_BAD;
    net->bits = (uint8_t)(first + bits);
    *loose = clear_behind(net);
    return 0;
}

bool net_has(const struct net *net, const uint8_t ip[16])
{
    return common_bits(net->ip, ip, net->bits) == net->bits;
}

void nets_init(struct nets *nets, struct nets_node *nodes)
{
    nets->nodes = nodes;
    nets->used = 1; /* the root: every address */
    nodes[0] = (struct nets_node){.rule = NETS_NONE};
}

static uint32_t add_node(struct nets *nets, const struct net *net, uint32_t rule)
{
    nets->nodes[nets->used] = (struct nets_node){.net = *net, .rule = rule};
    return nets->used++;
}

/* Put a node between a parent and its child, for the bits that the child shares with a network. */
static uint32_t split(struct nets *nets, uint32_t child, const struct net *net, unsigned common)
{
    struct net joint = *net;
    uint32_t middle;

    joint.bits = (uint8_t)common;
    clear_behind(&joint);
    middle = add_node(nets, &joint, NETS_NONE);
    nets->nodes[middle].child[bit_of(nets->nodes[child].net.ip, common)] = child;
    return middle;
}

void nets_add(struct nets *nets, const struct net *net, uint32_t rule)
{
    uint32_t at = 0;

    while (nets->nodes[at].net.bits < net->bits) {
        uint32_t *next = &nets->nodes[at].child[bit_of(net->ip, nets->nodes[at].net.bits)];
        const struct net *there = &nets->nodes[*next].net;
        unsigned common;

        if (*next == 0) {
            *next = add_node(nets, net, rule);
            return;
        }
        common = common_bits(there->ip, net->ip, there->bits < net->bits ? there->bits : net->bits);
        if (common < there->bits)
            *next = split(nets, *next, net, common);
        at = *next;
    }
    if (rule < nets->nodes[at].rule)
        nets->nodes[at].rule = rule;
}

uint32_t nets_find(const struct nets *nets, const uint8_t ip[16])
{
    uint32_t at = 0, lowest = NETS_NONE;

    for (;;) {
        const struct nets_node *node = &nets->nodes[at];

        if (common_bits(node->net.ip, ip, node->net.bits) < node->net.bits)
            return lowest;
        if (node->rule < lowest)
            lowest = node->rule;
        if (node->net.bits == ADDRESS_BITS)
            return lowest;
        at = node->child[bit_of(ip, node->net.bits)];
        if (at == 0)
            return lowest;
    }
}
