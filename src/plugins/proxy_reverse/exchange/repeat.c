/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/repeat.h"

#include <stddef.h>

static bool was_heard(const struct proxy_loss *loss)
{
    return loss->was_heard;
}

static bool lost_body(const struct proxy_loss *loss)
{
    return !loss->keeps_body;
}

static bool may_have_acted(const struct proxy_loss *loss)
{
    return loss->has_left && !loss->is_idempotent;
}

static bool was_idle(const struct proxy_loss *loss)
{
    return !loss->is_fresh;
}

static bool was_last(const struct proxy_loss *loss)
{
    return loss->is_last;
}

static bool any(const struct proxy_loss *loss)
{
    (void)loss;
    return true;
}

static const struct {
    bool (*fits)(const struct proxy_loss *loss);
    enum proxy_repeat verdict;
    const char *why;
} rules[] = {
#define RULE(fits, verdict, why) {fits, PROXY_REPEAT_##verdict, why},
    PROXY_REPEATS(RULE)
#undef RULE
};

enum proxy_repeat proxy_repeat(const struct proxy_loss *loss, const char **why)
{
    size_t i = 0;

    while (!rules[i].fits(loss))
        i++;
    if (why)
        *why = rules[i].why;
    return rules[i].verdict;
}
