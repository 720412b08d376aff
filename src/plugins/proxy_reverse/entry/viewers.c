/* SPDX-License-Identifier: Apache-2.0 */
#include "entry/viewers.h"

#include "kit/nets/nets.h"

static bool is_unix(struct mk_str word)
{
    return word.len == 4 && memcmp(word.p, "unix", 4) == 0;
}

void proxy_viewers_check(struct mk_setup *setup, const struct proxy_settings *set,
                         const struct mk_origin *at)
{
    for (size_t i = 0; i < set->statistics_allow.count; i++) {
        struct mk_str word = set->statistics_allow.items[i];
        struct net net;
        bool loose;

        if (!is_unix(word) && net_parse(word, &net, &loose) < 0)
            mk_setup_fault(
                setup, at,
                "StatisticsAllow: expected addresses, networks or \"unix\", got \"%.60s\"", word.p);
    }
}

bool proxy_viewers_has(const struct proxy_settings *set, const uint8_t *peer)
{
    for (size_t i = 0; i < set->statistics_allow.count; i++) {
        struct mk_str word = set->statistics_allow.items[i];
        struct net net;
        bool loose;

        if (peer ? net_parse(word, &net, &loose) == 0 && net_has(&net, peer) : is_unix(word))
            return true;
    }
    return false;
}
