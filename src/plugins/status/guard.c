/* SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"

#include "kit/text/words.h"

int status_guard_read(struct mk_setup *setup, const struct mk_words *words, const char *key,
                      const struct mk_origin *at, struct guard *guard)
{
    *guard = (struct guard){.nets = mk_setup_alloc(setup, (words->count + 1) * sizeof(struct net))};
    if (!guard->nets)
        return MK_E_NOMEM;
    for (size_t i = 0; i < words->count; i++) {
        const struct mk_str word = words->items[i];
        bool loose;

        if (text_is_word(word, MK_STR("unix")))
            guard->has_unix = true;
        else if (net_parse(word, &guard->nets[guard->nnets], &loose) == 0)
            guard->nnets++;
        else
            mk_setup_fault(setup, at, "%s: expected addresses, networks or \"unix\", got \"%.60s\"",
                           key, word.p);
    }
    return 0;
}

bool status_guard_admits(const struct guard *guard, const struct mk_conn *c)
{
    struct mk_conn_facts facts = {.size = sizeof(facts)};

    if (!c)
        return true;
    mk_conn_facts(c, &facts);
    if (facts.peer_is_unix)
        return guard->has_unix;
    for (size_t i = 0; i < guard->nnets; i++) {
        if (net_has(&guard->nets[i], facts.peer_ip))
            return true;
    }
    return false;
}
