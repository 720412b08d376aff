/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

/* Cookies: src/web/cookie.c. */

static void cookies_are_cut(void **state)
{
    static const struct {
        const char *field, *seen;
    } cases[] = {
        {"", ""},
        {"a=1", "[a|1]"},
        {"a=1; b=2;c=3 ; d = 4", "[a|1][b|2][c|3][d|4]"},
        {"a=\"x y\"; b=c=d; =e; f; ;;", "[a|\"x y\"][b|c=d][|e][|f]"},
        {"  ", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct mk_str rest = mk_str_from(cases[i].field), name, value;
        char seen[128] = "";

        while (mk_cookie_next(&rest, &name, &value))
            snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "[%.*s|%.*s]", (int)name.len,
                     name.p, (int)value.len, value.p);
        assert_string_equal(seen, cases[i].seen);
    }
}

#define COOKIE .size = sizeof(struct mk_cookie), .name = MK_STR_INIT("n"), .value = MK_STR_INIT("v")

static const struct {
    struct mk_cookie cookie;
    const char *text; /* NULL: refused */
} cookies[] = {
    {{COOKIE}, "n=v"},
    {{.size = sizeof(struct mk_cookie), .name = MK_STR_INIT("n"), .value = {NULL, 0}}, "n="},
    {{COOKIE, .path = MK_STR_INIT("/a"), .domain = MK_STR_INIT("example.com"), .has_max_age = true,
      .max_age = 60, .same_site = MK_SAME_SITE_NONE, .secure = true, .http_only = true,
      .partitioned = true},
     "n=v; Path=/a; Domain=example.com; Max-Age=60; SameSite=None; Secure; HttpOnly; Partitioned"},
    {{COOKIE, .has_max_age = true, .max_age = -5, .same_site = MK_SAME_SITE_STRICT},
     "n=v; Max-Age=0; SameSite=Strict"},
    {{COOKIE, .same_site = MK_SAME_SITE_LAX}, "n=v; SameSite=Lax"},
    {{COOKIE, .same_site = MK_SAME_SITE_NONE}, NULL},
    {{COOKIE, .partitioned = true}, NULL},
    {{COOKIE, .path = MK_STR_INIT("a")}, NULL},
    {{COOKIE, .path = MK_STR_INIT("/a;b")}, NULL},
    {{COOKIE, .domain = MK_STR_INIT("a b")}, NULL},
    {{COOKIE, .domain = MK_STR_INIT("")}, NULL},
    {{.size = sizeof(struct mk_cookie), .name = MK_STR_INIT(""), .value = MK_STR_INIT("v")}, NULL},
    {{.size = sizeof(struct mk_cookie), .name = MK_STR_INIT("a=b"), .value = MK_STR_INIT("v")},
     NULL},
    {{.size = sizeof(struct mk_cookie), .name = MK_STR_INIT("n"), .value = MK_STR_INIT("\"v\"")},
     "n=\"v\""},
    {{.size = sizeof(struct mk_cookie), .name = MK_STR_INIT("n"), .value = MK_STR_INIT("\"v")},
     NULL},
    {{.size = sizeof(struct mk_cookie), .name = MK_STR_INIT("n"), .value = MK_STR_INIT("a;b")},
     NULL},
    {{.size = sizeof(struct mk_cookie), .name = MK_STR_INIT("n"), .value = MK_STR_INIT("a\r\nb")},
     NULL},
    {{.size = sizeof(struct mk_cookie), .name = MK_STR_INIT("n"), .value = MK_STR_INIT("\xc3\xa9")},
     NULL},
    {{.size = sizeof(struct mk_cookie),
      .name = MK_STR_INIT("__Secure-n"),
      .value = MK_STR_INIT("v")},
     NULL},
    {{.size = sizeof(struct mk_cookie),
      .name = MK_STR_INIT("__Secure-n"),
      .value = MK_STR_INIT("v"),
      .secure = true},
     "__Secure-n=v; Secure"},
    {{.size = sizeof(struct mk_cookie),
      .name = MK_STR_INIT("__host-n"),
      .value = MK_STR_INIT("v"),
      .secure = true},
     NULL},
    {{.size = sizeof(struct mk_cookie),
      .name = MK_STR_INIT("__Host-n"),
      .value = MK_STR_INIT("v"),
      .path = MK_STR_INIT("/"),
      .secure = true},
     "__Host-n=v; Path=/; Secure"},
    {{.size = sizeof(struct mk_cookie),
      .name = MK_STR_INIT("__Host-n"),
      .value = MK_STR_INIT("v"),
      .path = MK_STR_INIT("/"),
      .domain = MK_STR_INIT("a.b"),
      .secure = true},
     NULL},
};

static void cookies_that_browsers_ignore_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cookies) / sizeof(cookies[0]); i++) {
        const char *why = NULL;
        char text[256];
        ssize_t len = mk_cookie_write(text, sizeof(text), &cookies[i].cookie, &why);

        if (!cookies[i].text) {
            assert_int_equal(len, MK_E_INVALID);
            assert_non_null(why);
            continue;
        }
        assert_int_equal(len, strlen(cookies[i].text));
        assert_memory_equal(text, cookies[i].text, (size_t)len);
        assert_int_equal(mk_cookie_write(text, (size_t)len - 1, &cookies[i].cookie, NULL),
                         MK_E_LIMIT);
    }
}

static void cookies_are_bounded(void **state)
{
    static char large[MK_COOKIE_PAIR], dst[2 * MK_COOKIE_PAIR];
    struct mk_cookie cookie = {COOKIE};

    (void)state;
    memset(large, 'x', sizeof(large));
    cookie.value = (struct mk_str){large, sizeof(large) - 1};
    assert_int_equal(mk_cookie_write(dst, sizeof(dst), &cookie, NULL), MK_COOKIE_PAIR + 1);
    cookie.value.len++;
    assert_int_equal(mk_cookie_write(dst, sizeof(dst), &cookie, NULL), MK_E_LIMIT);
}

static enum mk_verdict set_two(struct mk_request *r, void *arg)
{
    const struct mk_cookie wrong = {COOKIE, .partitioned = true};
    const struct mk_cookie right = {COOKIE, .http_only = true};
    struct mk_str value = mk_cookie_value(r, MK_STR("b"));
    struct mk_reply p;

    (void)arg;
    assert_int_equal(mk_reply_begin(&p, r, 200), 0);
    assert_int_equal(mk_reply_cookie(&p, &right), 0);
    assert_int_equal(mk_reply_cookie(&p, &wrong), MK_E_INVALID);
    assert_int_equal(mk_reply_cookie(&p, &right), 0);
    assert_int_equal(mk_reply_end(&p, (int64_t)value.len), 0);
    assert_int_equal(mk_reply_memory(r, value), 0);
    return MK_VERDICT_DONE;
}

static void requests_and_answers_have_them(void **state)
{
    struct mk_server *server = web_serve_one("GET", "/", set_two, NULL);
    struct mk_answer *answer;

    (void)state;
    answer = web_ask(server, "GET", "/", "Cookie: a=1\r\nX: b=0\r\ncookie: B=2; b=3\r\n", NULL);
    assert_true(web_has_line(answer, "Set-Cookie: n=v; HttpOnly"));
    web_is(answer, 200, "3");
    mk_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cookies_are_cut),
        cmocka_unit_test(cookies_that_browsers_ignore_are_refused),
        cmocka_unit_test(cookies_are_bounded),
        cmocka_unit_test(requests_and_answers_have_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
