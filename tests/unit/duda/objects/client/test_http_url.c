/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "objects/client/http_url.h"

static void assert_text(struct mk_str text, const char *wanted)
{
    assert_int_equal(text.len, strlen(wanted));
    assert_memory_equal(text.p, wanted, text.len);
}

static void reads_urls(void **state)
{
    static const struct {
        const char *url, *origin, *authority, *host, *target;
        unsigned port;
        bool is_secure;
    } rows[] = {
        {"http://a", "http://a", "a", "a", "", 80, false},
        {"HTTPS://a-b_c.d/", "HTTPS://a-b_c.d", "a-b_c.d", "a-b_c.d", "/", 443, true},
        {"http://a:8080/x/y?z=/#f", "http://a:8080", "a:8080", "a", "/x/y?z=/", 8080, false},
        {"http://a:/", "http://a:", "a:", "a", "/", 80, false},
        {"http://a?b", "http://a", "a", "a", "?b", 80, false},
        {"http://[::1]", "http://[::1]", "[::1]", "::1", "", 80, false},
        {"http://[::1]:65535/a", "http://[::1]:65535", "[::1]:65535", "::1", "/a", 65535, false},
        {"http://127.0.0.1#f", "http://127.0.0.1", "127.0.0.1", "127.0.0.1", "", 80, false},
    };
    struct http_url u;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        assert_true(http_url_read(&u, mk_str_from(rows[i].url)));
        assert_text(u.origin, rows[i].origin);
        assert_text(u.authority, rows[i].authority);
        assert_text(u.host, rows[i].host);
        assert_text(u.target, rows[i].target);
        assert_int_equal(u.port, rows[i].port);
        assert_int_equal(u.is_secure, rows[i].is_secure);
    }
}

static void refuses_urls(void **state)
{
    static const char *const rows[] = {"",
                                       "a",
                                       "/a",
                                       "//a/",
                                       "ftp://a",
                                       "http:/a",
                                       "http://",
                                       "http:///a",
                                       "http://a:0",
                                       "http://a:x",
                                       "http://a:65536",
                                       "http://u@a/",
                                       "http://a b",
                                       "http://a/ b",
                                       "http://a/\n",
                                       "http://a\x7f",
                                       "http://\xc3\xa4/",
                                       "http://[::1",
                                       "http://[a]",
                                       "http://[::1]a",
                                       "http://a:99999999999999999999",
                                       "http://a,b/"};
    char host[300] = "http://";
    struct http_url u;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++)
        assert_false(http_url_read(&u, mk_str_from(rows[i])));
    memset(host + 7, 'a', HTTP_HOST_MAX);
    assert_true(http_url_read(&u, mk_str_from(host)));
    host[7 + HTTP_HOST_MAX] = 'a';
    assert_false(http_url_read(&u, mk_str_from(host)));
}

static void has_a_bound(void **state)
{
    static char url[HTTP_URL_MAX + 2] = "http://a/";
    struct http_url u;

    (void)state;
    memset(url + 9, 'x', HTTP_URL_MAX - 9);
    assert_true(http_url_read(&u, mk_str_from(url)));
    url[HTTP_URL_MAX] = 'x';
    assert_false(http_url_read(&u, mk_str_from(url)));
}

static void compares_servers(void **state)
{
    static const struct {
        const char *a, *b;
        bool is_same;
    } rows[] = {
        {"http://a/x", "http://A:80/y", true},     {"https://a", "https://a:443", true},
        {"http://a", "https://a", false},          {"http://a", "http://b", false},
        {"http://a:443/", "https://a:443", false}, {"http://a", "http://a:81", false},
    };
    struct http_url a, b;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        assert_true(http_url_read(&a, mk_str_from(rows[i].a)));
        assert_true(http_url_read(&b, mk_str_from(rows[i].b)));
        assert_int_equal(http_url_is_same_origin(&a, &b), rows[i].is_same);
    }
}

/* RFC 3986 section 5.4, without the fragments. */
static void resolves_references(void **state)
{
    static const struct {
        const char *reference, *url;
    } rows[] = {
        {"g:h", "g:h"},
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q"},
        {"g#s", "http://a/b/c/g"},
        {"g?y#s", "http://a/b/c/g?y"},
        {";x", "http://a/b/c/;x"},
        {"g;x?y#s", "http://a/b/c/g;x?y"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g;x=1/../y", "http://a/b/c/y"},
        {"g?y/../x", "http://a/b/c/g?y/../x"},
    };
    char url[HTTP_URL_MAX];
    struct http_url base;

    (void)state;
    assert_true(http_url_read(&base, MK_STR("http://a/b/c/d;p?q")));
    for (size_t i = 0; i < NUMBER_OF(rows); i++)
        assert_text((struct mk_str){url, http_url_join(&base, mk_str_from(rows[i].reference), url)},
                    rows[i].url);
}

static void resolves_without_a_path(void **state)
{
    static char large[HTTP_URL_MAX];
    char url[HTTP_URL_MAX];
    struct http_url base;

    (void)state;
    assert_true(http_url_read(&base, MK_STR("https://a?q")));
    assert_text((struct mk_str){url, http_url_join(&base, MK_STR("x"), url)}, "https://a/x");
    assert_text((struct mk_str){url, http_url_join(&base, MK_STR("?x"), url)}, "https://a/?x");
    assert_text((struct mk_str){url, http_url_join(&base, MK_STR("//b/"), url)}, "https://b/");
    assert_text((struct mk_str){url, http_url_join(&base, MK_STR("#x"), url)}, "https://a?q");
    memset(large, 'x', sizeof(large));
    assert_int_equal(http_url_join(&base, (struct mk_str){large, sizeof(large)}, url), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_urls),          cmocka_unit_test(refuses_urls),
        cmocka_unit_test(has_a_bound),         cmocka_unit_test(compares_servers),
        cmocka_unit_test(resolves_references), cmocka_unit_test(resolves_without_a_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
