/* SPDX-License-Identifier: Apache-2.0 */
#include "core_test.h"

#include "base/str.h"
#include "core/addr.h"

static void reads_and_writes_addresses(void **state)
{
    static const struct {
        const char *sentence, *text, *formatted; /* NULL: refused */
        unsigned port;
    } rows[] = {
        {"a port alone is every address", "80", "[::]:80", 80},
        {"port 0 is any port", "0", "[::]:0", 0},
        {"the last port", "65535", "[::]:65535", 65535},
        {"one too many", "65536", NULL, 0},
        {"IPv4", "127.0.0.1:8080", "127.0.0.1:8080", 8080},
        {"IPv6", "[::1]:8080", "[::1]:8080", 8080},
        {"IPv6 written long", "[2001:DB8:0:0:0:0:0:1]:1", "[2001:db8::1]:1", 1},
        {"IPv4 in IPv6", "[::ffff:1.2.3.4]:1", "[::ffff:1.2.3.4]:1", 1},
        {"a unix socket", "unix:/run/x.sock", "unix:/run/x.sock", 0},
        {"a relative unix socket", "unix:x", NULL, 0},
        {"a unix socket without path", "unix:", NULL, 0},
        {"nothing", "", NULL, 0},
        {"no port", "127.0.0.1:", NULL, 0},
        {"no address", ":80", NULL, 0},
        {"IPv6 without brackets", "::1:80", NULL, 0},
        {"an empty pair of brackets", "[]:80", NULL, 0},
        {"a bracket that is not closed", "[::1:80", NULL, 0},
        {"a name", "localhost:80", NULL, 0},
        {"a sign", "-1", NULL, 0},
        {"a blank", " 80", NULL, 0},
        {"an octet too large", "256.0.0.1:80", NULL, 0},
        {"something behind", "80x", NULL, 0},
        {"an address far too long", "1111111111111111111111111111111111111111111111111111111111:1",
         NULL, 0},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct mk_addr addr, again;
        char text[MK_ADDR_TEXT];
        int err = mk_addr_parse(mk_str_from(rows[i].text), &addr);

        if (err != (rows[i].formatted ? 0 : MK_E_BAD))
            fail_msg("%s: %d", rows[i].sentence, err);
        if (err < 0)
            continue;
        assert_int_equal(mk_addr_format(&addr, text), strlen(rows[i].formatted));
        assert_string_equal(text, rows[i].formatted);
        assert_int_equal(mk_addr_port(&addr), rows[i].port);
        assert_int_equal(mk_addr_parse(mk_str_from(text), &again), 0);
        assert_true(mk_addr_eq(&addr, &again));
    }
}

static void knows_which_address_covers_which(void **state)
{
    static const struct {
        const char *wide, *narrow;
        bool covers;
    } rows[] = {
        {"80", "127.0.0.1:80", true},        {"80", "[::1]:80", true},
        {"80", "0.0.0.0:80", true},          {"0.0.0.0:80", "127.0.0.1:80", true},
        {"0.0.0.0:80", "[::1]:80", false},   {"0.0.0.0:80", "80", false},
        {"127.0.0.1:80", "80", false},       {"127.0.0.1:80", "127.0.0.2:80", false},
        {"80", "127.0.0.1:81", false},       {"80", "80", false},
        {"[::1]:80", "127.0.0.1:80", false}, {"0", "unix:/run/x.sock", false},
        {"unix:/run/x.sock", "0", false},    {"unix:/a", "unix:/b", false},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct mk_addr wide, narrow;

        assert_int_equal(mk_addr_parse(mk_str_from(rows[i].wide), &wide), 0);
        assert_int_equal(mk_addr_parse(mk_str_from(rows[i].narrow), &narrow), 0);
        if (mk_addr_covers(&wide, &narrow) != rows[i].covers)
            fail_msg("%s over %s", rows[i].wide, rows[i].narrow);
    }
}

static void a_unix_path_fits_or_is_refused(void **state)
{
    char text[5 + 120] = "unix:/";
    struct mk_addr addr;

    (void)state;
    memset(text + 6, 'x', sizeof(text) - 6);
    assert_int_equal(mk_addr_parse((struct mk_str){text, 5 + 107}, &addr), 0);
    assert_int_equal(strlen(addr.un.sun_path), 107);
    assert_int_equal(mk_addr_parse((struct mk_str){text, 5 + 108}, &addr), MK_E_BAD);
}

static void compares_what_is_listened_on(void **state)
{
    static const char *const different[] = {"80",       "81",      "1.2.3.4:80", "1.2.3.5:80",
                                            "[::1]:80", "unix:/a", "unix:/ab"};

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(different); i++) {
        for (size_t j = 0; j < MK_ARRAY_LEN(different); j++) {
            struct mk_addr a, b;

            assert_int_equal(mk_addr_parse(mk_str_from(different[i]), &a), 0);
            assert_int_equal(mk_addr_parse(mk_str_from(different[j]), &b), 0);
            if (mk_addr_eq(&a, &b) != (i == j))
                fail_msg("%s and %s", different[i], different[j]);
        }
    }
}

static void sets_ports(void **state)
{
    static const char *const texts[][2] = {
        {"1.2.3.4:0", "1.2.3.4:99"}, {"[::1]:0", "[::1]:99"}, {"unix:/a", "unix:/a"}};

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(texts); i++) {
        struct mk_addr addr;
        char text[MK_ADDR_TEXT];

        assert_int_equal(mk_addr_parse(mk_str_from(texts[i][0]), &addr), 0);
        mk_addr_set_port(&addr, 99);
        (void)mk_addr_format(&addr, text);
        assert_string_equal(text, texts[i][1]);
    }
}

static void peers_are_kept_small(void **state)
{
    static const struct {
        const char *from, *text;
        unsigned port;
        bool is_unix;
    } rows[] = {
        {"1.2.3.4:5", "1.2.3.4", 5, false},
        {"[::ffff:1.2.3.4]:5", "1.2.3.4", 5, false},
        {"[2001:db8::1]:5", "2001:db8::1", 5, false},
        {"unix:/a", "unix:", 0, true},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct mk_addr addr;
        struct mk_peer peer;
        char text[MK_ADDR_TEXT];

        assert_int_equal(mk_addr_parse(mk_str_from(rows[i].from), &addr), 0);
        mk_peer_from_addr(&peer, &addr);
        assert_int_equal(mk_peer_format(&peer, text), strlen(rows[i].text));
        assert_string_equal(text, rows[i].text);
        assert_int_equal(peer.port, rows[i].port);
        assert_int_equal(peer.is_unix, rows[i].is_unix);
    }
}

static void networks_hold_addresses(void **state)
{
    static const struct {
        const char *net, *ip;
        bool has;
    } rows[] = {
        {"10.0.0.0/8", "10.255.255.255", true},
        {"10.0.0.0/8", "11.0.0.0", false},
        {"10.0.0.0/9", "10.127.0.1", true},
        {"10.0.0.0/9", "10.128.0.1", false},
        {"192.0.2.1", "192.0.2.1", true},
        {"192.0.2.1", "192.0.2.2", false},
        {"192.0.2.1/32", "192.0.2.1", true},
        {"192.0.2.0/31", "192.0.2.1", true},
        {"0.0.0.0/0", "255.1.2.3", true},
        {"0.0.0.0/0", "2001:db8::1", false},
        {"::/0", "1.2.3.4", true},
        {"::/0", "2001:db8::1", true},
        {"2001:db8::/32", "2001:db8:1::", true},
        {"2001:db8::/32", "2001:db9::", false},
        {"2001:db8::/33", "2001:db8:7fff::", true},
        {"2001:db8::/33", "2001:db8:8000::", false},
        {"::1", "::1", true},
        {"::1/128", "::2", false},
        {"::ffff:10.0.0.0/104", "10.1.2.3", true},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct mk_net net;
        uint8_t ip[16];

        assert_int_equal(mk_net_parse(mk_str_from(rows[i].net), &net), 0);
        assert_int_equal(mk_ip_parse(mk_str_from(rows[i].ip), ip), 0);
        if (mk_net_has(&net, ip) != rows[i].has)
            fail_msg("%s in %s", rows[i].ip, rows[i].net);
    }
}

static void refuses_what_is_no_network(void **state)
{
    static const char *const bad[] = {
        "",       "/",           "/8",           "10.0.0.0/", "10.0.0.0/33",
        "::/129", "10.0.0.0/-1", "10.0.0.0/8/8", "10.0.0",    "x",
        "::1/ 8", "10.0.0.0/8 "};

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(bad); i++) {
        struct mk_net net;

        if (mk_net_parse(mk_str_from(bad[i]), &net) != MK_E_BAD)
            fail_msg("\"%s\" is taken", bad[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes_addresses),
        cmocka_unit_test(knows_which_address_covers_which),
        cmocka_unit_test(a_unix_path_fits_or_is_refused),
        cmocka_unit_test(compares_what_is_listened_on),
        cmocka_unit_test(sets_ports),
        cmocka_unit_test(peers_are_kept_small),
        cmocka_unit_test(networks_hold_addresses),
        cmocka_unit_test(refuses_what_is_no_network),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
