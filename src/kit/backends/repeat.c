/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/backends/repeat.h"

#include "kit/text/words.h"

#include <stddef.h>

static bool was_heard(const struct backend_loss *loss)
{
    return loss->was_heard;
}

static bool lost_body(const struct backend_loss *loss)
{
    return !loss->keeps_body;
}

static bool may_have_acted(const struct backend_loss *loss)
{
    return loss->has_left && !loss->is_idempotent;
}

static bool was_idle(const struct backend_loss *loss)
{
    return !loss->is_fresh;
}

static bool was_last(const struct backend_loss *loss)
{
    return loss->is_last;
}

static bool any(const struct backend_loss *loss)
{
    (void)loss;
    return true;
}

static const struct {
    bool (*fits)(const struct backend_loss *loss);
    enum backend_repeat verdict;
    const char *why;
} rules[] = {
#define RULE(fits, verdict, why) {fits, BACKEND_REPEAT_##verdict, why},
    BACKEND_REPEATS(RULE)
#undef RULE
};

enum backend_repeat backend_repeat(const struct backend_loss *loss, const char **why)
{
    size_t i = 0;

    while (!rules[i].fits(loss))
        i++;
    if (why)
        *why = rules[i].why;
    return rules[i].verdict;
}

bool backend_is_idempotent(struct mk_str method)
{
    static const struct mk_str methods[] = {
        MK_STR_INIT("GET"),    MK_STR_INIT("HEAD"),    MK_STR_INIT("PUT"),
        MK_STR_INIT("DELETE"), MK_STR_INIT("OPTIONS"), MK_STR_INIT("TRACE"),
    };

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (text_is(method, methods[i]))
            return true;
    }
    return false;
}
