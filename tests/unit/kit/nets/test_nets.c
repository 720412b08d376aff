/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "nets.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct net parsed(const char *text)
{
    struct net net;
    bool loose;

    assert_int_equal(net_parse(mk_str_from(text), &net, &loose), 0);
    return net;
}

static void test_one_network(void **state)
{
    static const struct {
        const char *net, *ip;
        bool has;
    } rows[] = {
        {"127.0.0.0/8", "127.255.0.1", true},
        {"127.0.0.0/8", "128.0.0.1", false},
        {"10.0.0.1", "10.0.0.1", true},
        {"10.0.0.1", "10.0.0.2", false},
        {"::1", "::1", true},
        {"::1", "0.0.0.1", false},
        {"0.0.0.0/0", "192.0.2.1", true},
        {"0.0.0.0/0", "2001:db8::1", false},
        {"::/0", "192.0.2.1", true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct net net = parsed(rows[i].net), ip = parsed(rows[i].ip);

        if (net_has(&net, ip.ip) != rows[i].has)
            fail_msg("%s in %s", rows[i].ip, rows[i].net);
    }
}

static void test_texts(void **state)
{
    static const struct {
        const char *text;
        int result;
        unsigned bits;
        bool loose;
    } rows[] = {
        {"10.0.0.0/8", 0, 104, false},
        {"10.1.0.0/8", 0, 104, true},
        {"127.0.0.1", 0, 128, false},
        {"0.0.0.0/0", 0, 96, false},
        {"::/0", 0, 0, false},
        {"::1", 0, 128, false},
        {"fe80::/10", 0, 10, false},
        {"fe80::1/10", 0, 10, true},
        {"::ffff:10.0.0.0/104", 0, 104, false},
        {"", MK_E_BAD, 0, false},
        {"10.0.0.0/", MK_E_BAD, 0, false},
        {"10.0.0.0/33", MK_E_BAD, 0, false},
        {"10.0.0.0/-1", MK_E_BAD, 0, false},
        {"10.0.0.0/8/8", MK_E_BAD, 0, false},
        {"10.0.0/8", MK_E_BAD, 0, false},
        {"::/129", MK_E_BAD, 0, false},
        {"::/4294967296", MK_E_BAD, 0, false},
        {"localhost", MK_E_BAD, 0, false},
        {"1111:2222:3333:4444:5555:6666:7777:8888:9999:1111:2222:3333:4444/8", MK_E_BAD, 0, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct net net;
        bool loose = false;

        if (net_parse(mk_str_from(rows[i].text), &net, &loose) != rows[i].result)
            fail_msg("%s", rows[i].text);
        if (rows[i].result == 0) {
            assert_int_equal(net.bits, rows[i].bits);
            assert_int_equal(loose, rows[i].loose);
        }
    }
}

static void test_lowest_number_of_all_that_hold_the_address(void **state)
{
    struct nets_node nodes[NETS_NODES(5)];
    struct nets nets;
    static const char *const texts[] = {"10.0.0.0/8", "10.1.2.3", "10.1.0.0/16", "10.0.0.0/8",
                                        "2001:db8::/32"};
    static const struct {
        const char *ip;
        uint32_t rule;
    } rows[] = {
        {"10.1.2.3", 0},
        {"10.9.9.9", 0},
        {"11.0.0.0", NETS_NONE},
        {"2001:db8::9", 4},
        {"2001:db9::9", NETS_NONE},
    };

    (void)state;
    nets_init(&nets, nodes);
    for (uint32_t i = 0; i < COUNT(texts); i++) {
        struct net net = parsed(texts[i]);

        nets_add(&nets, &net, i);
    }
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(nets_find(&nets, parsed(rows[i].ip).ip), rows[i].rule);
}

/* Bits that come again whenever the test runs. */
static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 8;
}

static bool holds(const struct net *net, const uint8_t ip[16])
{
    for (unsigned at = 0; at < net->bits; at++) {
        if ((net->ip[at / 8] ^ ip[at / 8]) & (0x80 >> at % 8))
            return false;
    }
    return true;
}

static struct net random_net(uint32_t *seed)
{
    struct net net = parsed("0.0.0.0/0");
    bool v6 = next_random(seed) % 4 == 0;

    if (v6)
        net = parsed("::/0");
    for (unsigned at = v6 ? 0 : 12; at < 16; at++)
        net.ip[at] = (uint8_t)(next_random(seed) % 4); /* few values, so that many nest */
    net.bits = (uint8_t)((v6 ? 0 : 96) + next_random(seed) % (v6 ? 129 : 33));
    for (unsigned at = net.bits; at < 128; at++)
        net.ip[at / 8] &= (uint8_t) ~(0x80 >> at % 8);
    return net;
}

static void test_finds_what_a_list_finds(void **state)
{
    enum { NETS = 2000, ASKED = 2000 };
    struct nets_node *nodes = calloc(NETS_NODES(NETS), sizeof(*nodes));
    struct net *list = calloc(NETS, sizeof(*list));
    uint32_t seed = 7;
    struct nets nets;

    (void)state;
    assert_non_null(nodes);
    assert_non_null(list);
    nets_init(&nets, nodes);
    for (uint32_t i = 0; i < NETS; i++) {
        list[i] = random_net(&seed);
        nets_add(&nets, &list[i], i);
    }
    assert_true(nets.used <= NETS_NODES(NETS));
    for (int i = 0; i < ASKED; i++) {
        struct net asked = random_net(&seed);
        uint32_t first = NETS_NONE;

        for (uint32_t j = 0; j < NETS && first == NETS_NONE; j++)
            first = holds(&list[j], asked.ip) ? j : NETS_NONE;
        assert_int_equal(nets_find(&nets, asked.ip), first);
    }
    free(list);
    free(nodes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_network),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_lowest_number_of_all_that_hold_the_address),
        cmocka_unit_test(test_finds_what_a_list_finds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
