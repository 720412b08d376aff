/* SPDX-License-Identifier: Apache-2.0 */
#include "areas.h"

#include "http/uri.h"

static const struct {
    const char *sentence, *rfc;
    struct mk_str raw;
    int err;
    struct mk_str path;
} paths[] = {
    {"the root", "RFC 3986 3.3", MK_STR_INIT("/"), 0, MK_STR_INIT("/")},
    {"a plain path", "RFC 3986 3.3", MK_STR_INIT("/a/b.html"), 0, MK_STR_INIT("/a/b.html")},
    {"a trailing slash is kept", "RFC 3986 3.3", MK_STR_INIT("/a/b/"), 0, MK_STR_INIT("/a/b/")},
    {"slashes in a row are one", "one path rule", MK_STR_INIT("//a///b//"), 0,
     MK_STR_INIT("/a/b/")},
    {"only slashes", "one path rule", MK_STR_INIT("////"), 0, MK_STR_INIT("/")},
    {"a dot segment", "RFC 3986 5.2.4", MK_STR_INIT("/a/./b"), 0, MK_STR_INIT("/a/b")},
    {"a dot segment first", "RFC 3986 5.2.4", MK_STR_INIT("/./a"), 0, MK_STR_INIT("/a")},
    {"a dot segment last leaves the slash", "RFC 3986 5.2.4", MK_STR_INIT("/a/."), 0,
     MK_STR_INIT("/a/")},
    {"only a dot", "RFC 3986 5.2.4", MK_STR_INIT("/."), 0, MK_STR_INIT("/")},
    {"two dots take a segment", "RFC 3986 5.2.4", MK_STR_INIT("/a/b/../c"), 0, MK_STR_INIT("/a/c")},
    {"two dots last leave the slash", "RFC 3986 5.2.4", MK_STR_INIT("/a/b/.."), 0,
     MK_STR_INIT("/a/")},
    {"two dots back to the root", "RFC 3986 5.2.4", MK_STR_INIT("/a/.."), 0, MK_STR_INIT("/")},
    {"two dots twice", "RFC 3986 5.2.4", MK_STR_INIT("/a/b/../../c"), 0, MK_STR_INIT("/c")},
    {"two dots behind two slashes", "RFC 3986 5.2.4", MK_STR_INIT("/a//../b"), 0,
     MK_STR_INIT("/b")},
    {"three dots are a name", "RFC 3986 5.2.4", MK_STR_INIT("/.../a..b/..c/d.."), 0,
     MK_STR_INIT("/.../a..b/..c/d..")},
    {"a dot file stays", "RFC 3986 5.2.4", MK_STR_INIT("/.well-known/a"), 0,
     MK_STR_INIT("/.well-known/a")},
    {"an escape", "RFC 3986 2.1", MK_STR_INIT("/a%20b%c3%A9"), 0, MK_STR_INIT("/a b\xc3\xa9")},
    {"decoded once", "RFC 3986 2.4", MK_STR_INIT("/%2541"), 0, MK_STR_INIT("/%41")},
    {"an escaped slash is one", "one path rule", MK_STR_INIT("/a%2Fb%2f"), 0, MK_STR_INIT("/a/b/")},
    {"escaped dots are dots", "RFC 3986 6.2.2", MK_STR_INIT("/a/%2e%2E/b"), 0, MK_STR_INIT("/b")},
    {"a plus stays", "RFC 3986 2.2", MK_STR_INIT("/a+b"), 0, MK_STR_INIT("/a+b")},
    {"control bytes may be escaped", "RFC 3986 2.1", MK_STR_INIT("/%0a%7f"), 0,
     MK_STR_INIT("/\n\x7f")},
    {"above the root", "RFC 3986 5.2.4", MK_STR_INIT("/.."), MK_E_ACCESS, {NULL, 0}},
    {"above the root with more",
     "RFC 3986 5.2.4",
     MK_STR_INIT("/../etc/passwd"),
     MK_E_ACCESS,
     {NULL, 0}},
    {"above the root on the way",
     "RFC 3986 5.2.4",
     MK_STR_INIT("/a/../../b"),
     MK_E_ACCESS,
     {NULL, 0}},
    {"above the root by escapes",
     "RFC 3986 5.2.4",
     MK_STR_INIT("/%2e%2e%2fa"),
     MK_E_ACCESS,
     {NULL, 0}},
    {"above the root behind slashes",
     "RFC 3986 5.2.4",
     MK_STR_INIT("//..//a"),
     MK_E_ACCESS,
     {NULL, 0}},
    {"NUL", "one path rule", MK_STR_INIT("/a%00.html"), MK_E_BAD, {NULL, 0}},
    {"NUL as it is", "one path rule", MK_STR_INIT("/a\0.html"), MK_E_BAD, {NULL, 0}},
    {"an escape cut short", "RFC 3986 2.1", MK_STR_INIT("/a%"), MK_E_BAD, {NULL, 0}},
    {"an escape of one digit", "RFC 3986 2.1", MK_STR_INIT("/a%4"), MK_E_BAD, {NULL, 0}},
    {"an escape of letters", "RFC 3986 2.1", MK_STR_INIT("/%zz"), MK_E_BAD, {NULL, 0}},
    {"an escape with a sign", "RFC 3986 2.1", MK_STR_INIT("/%+1"), MK_E_BAD, {NULL, 0}},
    {"no slash", "RFC 3986 3.3", MK_STR_INIT("a"), MK_E_BAD, {NULL, 0}},
    {"an escaped slash first", "RFC 3986 3.3", MK_STR_INIT("%2Fa"), MK_E_BAD, {NULL, 0}},
    {"nothing", "RFC 3986 3.3", MK_STR_INIT(""), MK_E_BAD, {NULL, 0}},
};

static void assert_path(size_t i, int err, const char *dst, size_t len)
{
    if (err != paths[i].err)
        fail_msg("%s (%s): gave %d", paths[i].sentence, paths[i].rfc, err);
    if (err == 0 && (len != paths[i].path.len || memcmp(dst, paths[i].path.p, len) != 0))
        fail_msg("%s (%s): gave %s", paths[i].sentence, paths[i].rfc,
                 show((struct mk_str){dst, len}));
}

static void normalises(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct mk_str raw = guard_str(&in_area, paths[i].raw);
        char *dst = guard_end(&out_area, raw.len), *same = guard_end(&in_area, raw.len);
        size_t len = 0;
        int err = mk_uri_normalise(raw, dst, &len);

        assert_path(i, err, dst, len);
        err = mk_uri_normalise(raw, same, &len); /* in place */
        assert_path(i, err, same, len);
    }
}

static void normalising_twice_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        char dst[64];
        size_t len;

        if (paths[i].err || memchr(paths[i].path.p, '%', paths[i].path.len))
            continue;
        assert_int_equal(mk_uri_normalise(paths[i].path, dst, &len), 0);
        assert_path(i, 0, dst, len);
    }
}

/* in the order of the call: NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
static const struct {
    const char *sentence, *rfc;
    struct mk_str in;
    int err;
    struct mk_str host;
    unsigned port;
} authorities[] = {
    {"a name", "RFC 3986 3.2.2", MK_STR_INIT("a.example.org"), 0, MK_STR_INIT("a.example.org"), 0},
    {"a name and a port", "RFC 3986 3.2.3", MK_STR_INIT("a:8080"), 0, MK_STR_INIT("a"), 8080},
    {"an empty port", "RFC 3986 3.2.3", MK_STR_INIT("a:"), 0, MK_STR_INIT("a"), 0},
    {"the largest port", "RFC 3986 3.2.3", MK_STR_INIT("a:65535"), 0, MK_STR_INIT("a"), 65535},
    {"a port with zeros", "RFC 3986 3.2.3", MK_STR_INIT("a:000000080"), 0, MK_STR_INIT("a"), 80},
    {"nothing", "RFC 9112 3.2", MK_STR_INIT(""), 0, MK_STR_INIT(""), 0},
    {"a trailing dot", "RFC 1034 3.1", MK_STR_INIT("a.org.:1"), 0, MK_STR_INIT("a.org"), 1},
    {"an IPv4 address", "RFC 3986 3.2.2", MK_STR_INIT("127.0.0.1:80"), 0, MK_STR_INIT("127.0.0.1"),
     80},
    {"an IPv6 address", "RFC 3986 3.2.2", MK_STR_INIT("[::1]"), 0, MK_STR_INIT("[::1]"), 0},
    {"an IPv6 address and a port", "RFC 3986 3.2.2", MK_STR_INIT("[2001:db8::A]:443"), 0,
     MK_STR_INIT("[2001:db8::A]"), 443},
    {"IPv4 in IPv6", "RFC 3986 3.2.2", MK_STR_INIT("[::ffff:1.2.3.4]"), 0,
     MK_STR_INIT("[::ffff:1.2.3.4]"), 0},
    {"sub-delims and an escape", "RFC 3986 3.2.2", MK_STR_INIT("a_b!%41"), 0,
     MK_STR_INIT("a_b!%41"), 0},
    {"a port above 65535", "RFC 3986 3.2.3", MK_STR_INIT("a:65536"), MK_E_BAD, {NULL, 0}, 0},
    {"a port that would wrap",
     "RFC 3986 3.2.3",
     MK_STR_INIT("a:4294967376"),
     MK_E_BAD,
     {NULL, 0},
     0},
    {"a port with a sign", "RFC 3986 3.2.3", MK_STR_INIT("a:+1"), MK_E_BAD, {NULL, 0}, 0},
    {"a port with a letter", "RFC 3986 3.2.3", MK_STR_INIT("a:8o"), MK_E_BAD, {NULL, 0}, 0},
    {"two ports", "RFC 3986 3.2.3", MK_STR_INIT("a:1:2"), MK_E_BAD, {NULL, 0}, 0},
    {"only a port", "RFC 9110 4.2.1", MK_STR_INIT(":80"), MK_E_BAD, {NULL, 0}, 0},
    {"only a dot", "RFC 1034 3.1", MK_STR_INIT("."), MK_E_BAD, {NULL, 0}, 0},
    {"userinfo", "RFC 9110 4.2.4", MK_STR_INIT("u:p@a"), MK_E_BAD, {NULL, 0}, 0},
    {"a slash", "RFC 3986 3.2", MK_STR_INIT("a/b"), MK_E_BAD, {NULL, 0}, 0},
    {"a blank", "RFC 3986 3.2.2", MK_STR_INIT("a b"), MK_E_BAD, {NULL, 0}, 0},
    {"NUL", "RFC 3986 3.2.2", MK_STR_INIT("a\0b"), MK_E_BAD, {NULL, 0}, 0},
    {"a byte above 0x7f", "RFC 3986 3.2.2", MK_STR_INIT("\xc3\xa9"), MK_E_BAD, {NULL, 0}, 0},
    {"an escape cut short", "RFC 3986 3.2.2", MK_STR_INIT("a%4"), MK_E_BAD, {NULL, 0}, 0},
    {"an escaped NUL", "RFC 3986 3.2.2", MK_STR_INIT("a%00"), MK_E_BAD, {NULL, 0}, 0},
    {"a bracket left open", "RFC 3986 3.2.2", MK_STR_INIT("[::1"), MK_E_BAD, {NULL, 0}, 0},
    {"a bracket alone", "RFC 3986 3.2.2", MK_STR_INIT("["), MK_E_BAD, {NULL, 0}, 0},
    {"empty brackets", "RFC 3986 3.2.2", MK_STR_INIT("[]"), MK_E_BAD, {NULL, 0}, 0},
    {"a name in brackets", "RFC 3986 3.2.2", MK_STR_INIT("[a]"), MK_E_BAD, {NULL, 0}, 0},
    {"a zone", "RFC 9110 4.2", MK_STR_INIT("[fe80::1%25eth0]"), MK_E_BAD, {NULL, 0}, 0},
    {"NUL in brackets", "RFC 3986 3.2.2", MK_STR_INIT("[::1\0]"), MK_E_BAD, {NULL, 0}, 0},
    {"an address too long to be one",
     "RFC 3986 3.2.2",
     MK_STR_INIT("[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]"),
     MK_E_BAD,
     {NULL, 0},
     0},
    {"letters behind the bracket", "RFC 3986 3.2.2", MK_STR_INIT("[::1]a"), MK_E_BAD, {NULL, 0}, 0},
    {"an IPv6 address without brackets",
     "RFC 3986 3.2.2",
     MK_STR_INIT("::1"),
     MK_E_BAD,
     {NULL, 0},
     0},
};

static void splits_authorities(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(authorities) / sizeof(authorities[0]); i++) {
        struct mk_str in = guard_str(&in_area, authorities[i].in), host;
        unsigned port;
        int err = mk_uri_authority(in, &host, &port);

        if (err != authorities[i].err)
            fail_msg("%s (%s): gave %d", authorities[i].sentence, authorities[i].rfc, err);
        if (err < 0)
            continue;
        if (host.len != authorities[i].host.len || port != authorities[i].port ||
            memcmp(host.p, authorities[i].host.p, host.len) != 0)
            fail_msg("%s: gave %s, %u", authorities[i].sentence, show(host), port);
    }
}

static void knows_target_bytes(void **state)
{
    (void)state;
    assert_true(mk_uri_is_target(guard_str(&in_area, MK_STR("/a-._~:/?@!$&'()*+,;=[]%"))));
    assert_true(mk_uri_is_target(MK_STR("")));
    for (int c = 0; c < 256; c++) {
        char text[3] = {'/', (char)c, 'a'};
        bool bad = c <= 0x20 || c >= 0x7f || strchr("\"<>\\#", c) != NULL;

        assert_int_equal(mk_uri_is_target((struct mk_str){text, 3}), !bad);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normalises),
        cmocka_unit_test(normalising_twice_changes_nothing),
        cmocka_unit_test(splits_authorities),
        cmocka_unit_test(knows_target_bytes),
    };

    return cmocka_run_group_tests(tests, open_areas, close_areas);
}
