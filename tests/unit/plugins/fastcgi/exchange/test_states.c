/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../../kit/states/walk.h"
#include "exchange/states.h"

static const struct way exchange_ways[] = {
    {"answered to its end", {"gather", "connect", "send", "answer", "rest", "over"}},
    {"answered, and END_REQUEST is still to come", {"gather", "connect", "send", "answer", "over"}},
    {"a server that cannot be reached, then another that falls silent",
     {"gather", "connect", "connect", "send", "over"}},
    {"an idle connection that was closed, then no server", {"connect", "send", "connect", "over"}},
    {"a client that left while it sent", {"gather", "over"}},
    {NULL, {NULL}}};

static const struct way written_ways[] = {
    {"no body", {"none", "all"}},
    {"an empty one of unknown length", {"none", "head", "all"}},
    {"a body, and the whole request again", {"none", "head", "piece", "all", "none"}},
    {"again, when some of the body was sent", {"head", "piece", "none"}},
    {"again, when nothing of the body had come", {"head", "none"}},
    {NULL, {NULL}}};

static const struct way sending_ways[] = {
    {"all of it, and again", {"ready", "part", "whole", "ready"}},
    {"a server that takes no byte", {"ready", "deaf", "ready"}},
    {"a server that takes some", {"ready", "part", "cut", "ready"}},
    {"a server that ends meanwhile", {"ready", "part", "ready"}},
    {NULL, {NULL}}};

static const struct way time_ways[] = {
    {"in time, then not", {"idle", "runs", "idle", "runs", "out"}}, {NULL, {NULL}}};

static void test_exchanges(void **state)
{
    (void)state;
    check_ways(&fastcgi_exchange_states, exchange_ways);
}

static void test_records_that_are_written(void **state)
{
    (void)state;
    check_ways(&fastcgi_written_states, written_ways);
}

static void test_requests_on_their_way(void **state)
{
    (void)state;
    check_ways(&fastcgi_sending_states, sending_ways);
}

static void test_waits(void **state)
{
    (void)state;
    check_ways(&fastcgi_time_states, time_ways);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exchanges),
        cmocka_unit_test(test_records_that_are_written),
        cmocka_unit_test(test_requests_on_their_way),
        cmocka_unit_test(test_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
