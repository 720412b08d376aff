/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../../kit/states/walk.h"
#include "exchange/states.h"

static const struct way exchange_ways[] = {
    {"a request with a body, answered",
     {"gather", "connect", "send", "head", "body", "rest", "over"}},
    {"no backend, then another that falls silent",
     {"gather", "connect", "connect", "send", "over"}},
    {"a connection that was closed", {"gather", "connect", "send", "connect", "over"}},
    {"an answer of RetryOn, and another backend's",
     {"gather", "connect", "send", "head", "connect", "send", "head", "body", "rest", "over"}},
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

static void test_exchanges(void **state)
{
    (void)state;
    check_ways(&proxy_exchange_states, exchange_ways);
}

static void test_requests_on_their_way(void **state)
{
    (void)state;
    check_ways(&proxy_sending_states, sending_ways);
}

static void test_bodies(void **state)
{
    (void)state;
    check_ways(&proxy_reading_states, reading_ways);
}

static void test_an_end_is_for_good(void **state)
{
    (void)state;
    for (unsigned to = 0; to < PROXY_STATE_COUNT; to++)
        assert_false(states_may(&proxy_exchange_states, PROXY_OVER, to));
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
