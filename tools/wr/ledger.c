/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger.h"

#include <string.h>

enum children { APART, INSIDE, NEVER };

#define WR_CHILDREN(name, children, meaning) [WR_##name] = children,
static const enum children children_are[] = {WR_COUNTERS(WR_CHILDREN)};

void ledger_begin(struct ledger *l)
{
    memcpy(l->own_base, l->own, sizeof(l->own));
    memcpy(l->children_base, l->children, sizeof(l->children));
    memset(l->lost, 0, sizeof(l->lost));
}

static uint64_t since(uint64_t now, uint64_t base)
{
    return now > base ? now - base : 0;
}

uint64_t ledger_value(const struct ledger *l, enum wr_counter c)
{
    uint64_t waited_for = since(l->children[c], l->children_base[c]);
    uint64_t ended = l->lost[c];

    if (children_are[c] == INSIDE)
        ended = 0;
    else if (children_are[c] == APART && waited_for > ended)
        ended = waited_for;
    return since(l->own[c], l->own_base[c]) + ended;
}

void ledger_inherit(struct ledger *parent, const struct ledger *child)
{
    for (int c = 0; c < WR_COUNTER_COUNT; c++) {
        parent->lost[c] += ledger_value(child, (enum wr_counter)c);
        if (children_are[c] == APART)
            parent->children_base[c] += child->own_base[c] + child->children_base[c];
        if (children_are[c] == INSIDE)
            parent->own_base[c] += child->own_base[c];
    }
}
