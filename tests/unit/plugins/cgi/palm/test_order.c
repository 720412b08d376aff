/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "palm/order.h"

static const char texts[] = "/dir\0/dir/script\0script\0-x\0A=1\0B=\0";

static char *packet_of(uint32_t narguments, uint32_t nvariables, size_t texts_len, size_t *len)
{
    struct palm_order head = {.narguments = narguments, .nvariables = nvariables};
    char *packet;

    head.limits[PALM_FILES] = 7;
    *len = sizeof(head) + texts_len;
    packet = malloc(*len); /* of this size, so that a sanitizer sees who reads on */
    assert_non_null(packet);
    memcpy(packet, &head, sizeof(head));
    memcpy(packet + sizeof(head), texts, texts_len);
    return packet;
}

static bool parses(uint32_t narguments, uint32_t nvariables, size_t texts_len)
{
    struct order o;
    size_t len;
    char *packet = packet_of(narguments, nvariables, texts_len, &len);
    bool result = order_parse(&o, packet, len);

    free(packet);
    return result;
}

static void test_whole_order(void **state)
{
    struct order o;
    size_t len;
    char *packet = packet_of(2, 2, sizeof(texts) - 1, &len);

    (void)state;
    assert_true(order_parse(&o, packet, len));
    assert_string_equal(o.directory, "/dir");
    assert_string_equal(o.program, "/dir/script");
    assert_string_equal(o.arguments[0], "script");
    assert_string_equal(o.arguments[1], "-x");
    assert_null(o.arguments[2]);
    assert_string_equal(o.variables[0], "A=1");
    assert_string_equal(o.variables[1], "B=");
    assert_null(o.variables[2]);
    assert_int_equal(o.limits[PALM_FILES], 7);
    free(packet);
}

static void test_what_is_none(void **state)
{
    struct order o;
    char few[sizeof(struct palm_order)] = {0};

    (void)state;
    for (size_t len = 0; len < sizeof(texts) - 1; len++)
        assert_false(parses(2, 2, len));
    assert_false(parses(2, 1, sizeof(texts) - 1)); /* something is left */
    assert_false(parses(2, 3, sizeof(texts) - 1));
    assert_false(parses(0, 4, sizeof(texts) - 1));
    assert_false(parses(PALM_ARGUMENTS_MAX + 1, 0, sizeof(texts) - 1));
    assert_false(parses(1, PALM_VARIABLES_MAX + 1, sizeof(texts) - 1));
    assert_false(parses(UINT32_MAX, UINT32_MAX, sizeof(texts) - 1));
    assert_false(order_parse(&o, few, sizeof(few) - 1));
    assert_false(order_parse(&o, few, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_order),
        cmocka_unit_test(test_what_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
