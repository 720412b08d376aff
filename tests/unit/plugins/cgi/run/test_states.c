/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../../kit/states/walk.h"
#include "run/states.h"

static const struct way run_ways[] = {
    {"a script that ends with its output", {"gathers", "waits", "goes", "over"}},
    {"one that is ended", {"waits", "goes", "ends", "over"}},
    {"a spawner that is back soon", {"waits", "starts", "starts", "goes", "over"}},
    {"a spawner that ended with an order unread", {"goes", "starts", "over"}},
    {"a client that left while its body was gathered", {"gathers", "over"}},
    {"nobody gave up a place", {"waits", "over"}},
    {NULL, {NULL}}};

static const struct way out_ways[] = {
    {"some, more, and the end", {"taken", "awaited", "taken", "awaited", "ended"}},
    {"a client that left", {"taken", "ended"}},
    {"an order that was not read, and another", {"ended", "taken"}},
    {"closed by a script that lives on", {"ended", "silent"}},
    {NULL, {NULL}}};

static const struct way fate_ways[] = {
    {"well", {"lives", "ended"}},
    {"killed", {"lives", "lost"}},
    {"ended by us", {"lives", "spoilt", "lost"}},
    {"ended, and then the client sends nonsense", {"lives", "ended", "lost"}},
    {NULL, {NULL}}};

static void test_runs(void **state)
{
    (void)state;
    check_ways(&cgi_run_states, run_ways);
}

static void test_output(void **state)
{
    (void)state;
    check_ways(&cgi_out_states, out_ways);
}

static void test_fates(void **state)
{
    (void)state;
    check_ways(&cgi_fate_states, fate_ways);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_output),
        cmocka_unit_test(test_fates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
