/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "exchange/states.h"

/* Ways that exchanges take, written a second time: a table that allows more or less fails. */
struct way {
    const char *what;
    const char *names[9];
};

static const struct way exchange_ways[] = {
    {"a request with a body, answered",
     {"gather", "connect", "send", "head", "body", "rest", "over"}},
    {"no backend, then another that falls silent",
     {"gather", "connect", "connect", "send", "over"}},
    {"a connection that was closed", {"gather", "connect", "send", "connect", "over"}},
    {"an answer that is refused", {"gather", "connect", "send", "head", "over"}},
    {"an answer that is cut off", {"gather", "connect", "send", "head", "body", "over"}},
    {"a tunnel", {"gather", "connect", "send", "head", "tunnel", "over"}},
    {"a client that left while it sent", {"gather", "over"}},
    {NULL, {NULL}}};

static const struct way sending_ways[] = {
    {"all of it", {"new", "ready", "part", "whole", "new"}},
    {"a kept connection that was not quiet", {"new", "ready", "new"}},
    {"a backend that takes no byte", {"new", "ready", "deaf", "new"}},
    {"a backend that takes some", {"new", "ready", "part", "cut", "new"}},
    {"a backend that fails meanwhile", {"new", "ready", "part", "new"}},
    {NULL, {NULL}}};

static const struct way reading_ways[] = {
    {"read, and read again", {"open", "read", "open"}},
    {"held until 100, and held again for the next backend", {"open", "held", "open", "held"}},
    {NULL, {NULL}}};

static unsigned state_of(const struct proxy_states *table, const char *name)
{
    for (unsigned i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].name, name) == 0)
            return i;
    }
    fail_msg("%s: no state %s", table->of, name);
    return 0;
}

static void walk(const struct proxy_states *table, const struct way *way, unsigned *seen)
{
    for (unsigned i = 0; way->names[i + 1]; i++) {
        unsigned from = state_of(table, way->names[i]), to = state_of(table, way->names[i + 1]);

        if (!proxy_state_may(table, from, to))
            fail_msg("%s: %s may not follow %s", way->what, way->names[i + 1], way->names[i]);
        seen[from] |= 1U << to;
    }
}

static void check(const struct proxy_states *table, const struct way *ways)
{
    unsigned seen[16] = {0};

    for (; ways->what; ways++)
        walk(table, ways, seen);
    for (unsigned from = 0; from < table->count; from++) {
        for (unsigned to = 0; to < table->count; to++) {
            bool may = proxy_state_may(table, from, to);

            if (may != (seen[from] >> to & 1))
                fail_msg("%s: from %s to %s is %s", table->of, table->rows[from].name,
                         table->rows[to].name, may ? "allowed, and on no way" : "on a way");
        }
    }
}

static void test_exchanges(void **state)
{
    (void)state;
    check(&proxy_exchange_states, exchange_ways);
}

static void test_requests_on_their_way(void **state)
{
    (void)state;
    check(&proxy_sending_states, sending_ways);
}

static void test_bodies(void **state)
{
    (void)state;
    check(&proxy_reading_states, reading_ways);
}

static void test_an_end_is_for_good(void **state)
{
    (void)state;
    for (unsigned to = 0; to < PROXY_STATE_COUNT; to++)
        assert_false(proxy_state_may(&proxy_exchange_states, PROXY_OVER, to));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exchanges),
        cmocka_unit_test(test_requests_on_their_way),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_an_end_is_for_good),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
