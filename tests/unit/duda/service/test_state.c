/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../kit/states/walk.h"
#include "service/state.h"

static const struct way ways[] = {
    {"answered at once", {"gather", "called", "ended", "over"}},
    {"a client that leaves while it sends", {"gather", "over"}},
    {"a call-back that waits, and a client that leaves", {"gather", "called", "over"}},
    {"a session of another machine, changed",
     {"gather", "fetch", "called", "held", "ended", "over"}},
    {"a session that cannot be asked for", {"gather", "ended"}},
    {"a session that cannot be had", {"fetch", "ended"}},
    {"a client that leaves while its session comes", {"fetch", "over"}},
    {"a client that leaves while its session goes", {"held", "over"}},
    {"guards that let it pass before its body", {"gather", "called", "gather", "called", "ended"}},
    {"an answer in pieces", {"called", "open", "ended", "over"}},
    {"the head of one", {"called", "open", "held", "ended"}},
    {"a client that leaves within it", {"open", "over"}},
    {"a WebSocket", {"called", "ended", "taken", "over"}},
    {NULL, {NULL}}};

static void test_ways(void **state)
{
    (void)state;
    check_ways(&mk_duda_request_states, ways);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ways)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
