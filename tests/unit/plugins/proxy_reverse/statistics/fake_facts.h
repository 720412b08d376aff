/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_PROXY_FAKE_FACTS_H
#define TESTS_PROXY_FAKE_FACTS_H

/* Facts of backends that a test makes up: those of each entry are an array behind its group. Behind cmocka.h, once a program. */

#include "backends/facts.h"

struct proxy_group {
    unsigned n;
    const struct proxy_facts *facts;
};

unsigned proxy_facts_count(const struct proxy_entry *entry)
{
    return entry->group->n;
}

void proxy_facts(const struct proxy_entry *entry, unsigned i, struct proxy_facts *facts)
{
    assert_true(i < entry->group->n);
    *facts = entry->group->facts[i];
}

#endif
