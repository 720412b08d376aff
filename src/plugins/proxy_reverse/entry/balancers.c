/* SPDX-License-Identifier: Apache-2.0 */
#include "entry/balancers.h"

#include <ctype.h>
#include <stdbool.h>

const char *const proxy_balancer_names[] = {
#define BALANCER_NAME(upper, name, text) [PROXY_##upper] = name,
    PROXY_BALANCERS(BALANCER_NAME)
#undef BALANCER_NAME
        [PROXY_BALANCER_COUNT] = "Lockless",
    NULL};

static const struct {
    const char *name; /* lower case, without what separates words */
    enum proxy_balancer balancer;
} balancers[] = {
    {"naive", PROXY_NAIVE},
    {"firstalive", PROXY_FIRST_ALIVE},
    {"roundrobin", PROXY_ROUND_ROBIN},
    {"lockless", PROXY_ROUND_ROBIN},
    {"locklessroundrobin", PROXY_ROUND_ROBIN},
    {"lockingroundrobin", PROXY_LOCKING_ROUND_ROBIN},
    {"leastconnections", PROXY_LEAST_CONNECTIONS},
    {"sourcehash", PROXY_SOURCE_HASH},
    {"random2", PROXY_RANDOM2},
    {"consistenthash", PROXY_CONSISTENT_HASH},
};

/* Names are written "First-Alive", "first alive" or "FirstAlive". */
static bool is_balancer_name(struct mk_str text, const char *name)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] == '-' || text.p[i] == '_' || text.p[i] == ' ' || text.p[i] == '\t')
            continue;
        if (tolower((unsigned char)text.p[i]) != *name)
            return false;
        name++;
    }
    return *name == '\0';
}

int proxy_balancer_find(struct mk_str text)
{
    for (size_t i = 0; i < sizeof(balancers) / sizeof(balancers[0]); i++) {
        if (is_balancer_name(text, balancers[i].name))
            return (int)balancers[i].balancer;
    }
    return -1;
}
