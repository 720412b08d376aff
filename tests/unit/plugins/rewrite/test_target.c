/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include "../template_of.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct target_values values = {
    .variables = {[MK_VARIABLE_PATH] = MK_STR_INIT("/a b"),
                  [MK_VARIABLE_TARGET] = MK_STR_INIT("/a%20b\\//?q=\xc3"),
                  [MK_VARIABLE_QUERY] = MK_STR_INIT("q=%20&r"),
                  [MK_VARIABLE_HOST] = MK_STR_INIT("[::1]"),
                  [MK_VARIABLE_SCHEME] = MK_STR_INIT("https"),
                  [MK_VARIABLE_REMOTE_ADDR] = MK_STR_INIT("fe80::1"),
                  [MK_VARIABLE_SERVER_PORT] = MK_STR_INIT("443")},
    .captures = {MK_STR_INIT("all"), MK_STR_INIT("/x?y#z&\r\n"), MK_STR_INIT("evil.test/@:")},
};

/* @return 0 or MK_E_INVALID. t refers to the text and to a room that the next call takes. */
static int parse(struct target *t, struct mk_str text, const char **why)
{
    static struct mk_template_piece pieces[MK_TEMPLATE_MAX];
    struct mk_template from;

    assert_int_equal(template_read(&from, text, MK_TEMPLATE_GROUPS, pieces), 0);
    return rewrite_target_parse(t, &from, why);
}

/* Into memory of exactly the promised size, which ASan watches. */
static void expect(const char *text, const char *wanted)
{
    struct target t;
    const char *why;
    size_t room, len;
    char *dst;

    assert_int_equal(parse(&t, mk_str_from(text), &why), 0);
    room = rewrite_target_room(&t, &values);
    dst = malloc(room + 1);
    assert_non_null(dst);
    len = rewrite_target_write(&t, &values, dst);
    assert_true(len <= room);
    dst[len] = '\0';
    assert_string_equal(dst, wanted);
    free(dst);
}

static void values_are_escaped_for_their_place(void **state)
{
    (void)state;
    expect("/p$1", "/p/x%3Fy%23z&%0D%0A");
    expect("/p?q=$1", "/p?q=%2Fx%3Fy%23z%26%0D%0A");
    expect("/p#$1", "/p#%2Fx%3Fy%23z%26%0D%0A");
    expect("https://$2/", "https://evil.test%2F%40%3A/");
    expect("https://$2.example.org/$2", "https://evil.test%2F%40%3A.example.org/evil.test/@:");
    expect("/p?$query", "/p?q=%20&r");
    expect("/p/$query", "/p/q=%2520&r");
    expect("/p/$host/$remote_addr", "/p/%5B::1%5D/fe80::1");
    expect("/p?$host&$remote_addr", "/p?%5B%3A%3A1%5D&fe80%3A%3A1");
}

static void a_url_has_the_host_as_it_was_asked_for(void **state)
{
    (void)state;
    expect("$scheme://$host:$server_port$path?$query", "https://[::1]:443/a%20b?q=%20&r");
    expect("http://$host", "http://[::1]");
    expect("https://$host$request_uri", "https://[::1]/a%20b%5C//?q=%C3");
    expect("/in?to=$request_uri", "/in?to=%2Fa%2520b%5C%2F%2F%3Fq%3D%C3");
    expect("http://$host$path$path", "http://[::1]/a%20b/a%20b");
}

/* RFC 3986 section 4.2: "//x" is another host. */
static void a_path_stays_one(void **state)
{
    (void)state;
    expect("/$1", "/x%3Fy%23z&%0D%0A");
    expect("/$path$path", "/a%20b/a%20b");
    expect("/", "/");
    expect("/$9", "/");
    expect("/a//b", "/a//b");
}

static void two_dollars_are_one(void **state)
{
    (void)state;
    expect("/$$host/$$$host?$$", "/$host/$%5B::1%5D?$");
    expect("https://a.test/$$", "https://a.test/$");
}

static void other_names_are_the_same(void **state)
{
    (void)state;
    expect("/p$uri?$args", "/p/a%20b?q=%20&r");
}

static void what_a_target_has_is_known(void **state)
{
    struct target t;
    const char *why;

    (void)state;
    assert_int_equal(parse(&t, MK_STR("/a?$7"), &why), 0);
    assert_true(t.is_local && t.has_query && !t.is_constant && t.ncaptures == 8);
    assert_int_equal(parse(&t, MK_STR("https://a.test/$path"), &why), 0);
    assert_true(!t.is_local && !t.has_query && !t.is_constant && !t.is_host_chosen);
    assert_int_equal(parse(&t, MK_STR("/a"), &why), 0);
    assert_true(t.is_constant && t.ncaptures == 0);
}

static void a_host_that_requests_choose_is_known(void **state)
{
    static const struct {
        struct mk_str text;
        bool is_chosen;
    } rows[] = {
        {MK_STR_INIT("https://$1"), true},
        {MK_STR_INIT("https://$1/a"), true},
        {MK_STR_INIT("https://$1:8080/a"), true},
        {MK_STR_INIT("https://$1?a"), true},
        {MK_STR_INIT("https://www.$1"), true},
        {MK_STR_INIT("https://example.org$1"), true},
        {MK_STR_INIT("https://$1.example.org"), false},
        {MK_STR_INIT("https://$host$path"), false},
        {MK_STR_INIT("https://$host:$server_port/$1"), false},
        {MK_STR_INIT("https://a.test/$1"), false},
        {MK_STR_INIT("/$1"), false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct target t;
        const char *why;

        assert_int_equal(parse(&t, rows[i].text, &why), 0);
        if (t.is_host_chosen != rows[i].is_chosen)
            fail_msg("%s", rows[i].text.p);
    }
}

static void others_are_refused(void **state)
{
    static const char *const texts[] = {
        "",        "a",        "//a",  "$1",    "$host/",      "://a",   "1://a", "java script://",
        "/\x01",   "/\x7f",    "/a b", "$path", "a$scheme://", "a/://b", "a:/b",  "a:",
        "$scheme", "$scheme/",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct target t;
        const char *why = NULL;

        if (parse(&t, mk_str_from(texts[i]), &why) != MK_E_INVALID || !why)
            fail_msg("%s", texts[i]);
    }
}

static void parts_are_bounded(void **state)
{
    char text[1 + 2 * TARGET_PARTS] = "/"; /* and as many variables */
    struct target t;
    const char *why;

    (void)state;
    for (unsigned i = 0; i < TARGET_PARTS; i++)
        memcpy(text + 1 + (size_t)2 * i, "$1", 2);
    assert_int_equal(parse(&t, (struct mk_str){text, sizeof(text) - 2}, &why), 0);
    assert_int_equal(t.nparts, TARGET_PARTS);
    assert_int_equal(parse(&t, (struct mk_str){text, sizeof(text)}, &why), MK_E_INVALID);
}

static void statuses_are_those_of_redirects(void **state)
{
    (void)state;
    assert_int_equal(rewrite_target_status(MK_STR("301")), 301);
    assert_int_equal(rewrite_target_status(MK_STR("308")), 308);
    assert_int_equal(rewrite_target_status(MK_STR("300")), 0);
    assert_int_equal(rewrite_target_status(MK_STR("30")), 0);
    assert_int_equal(rewrite_target_status(MK_STR("")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_escaped_for_their_place),
        cmocka_unit_test(a_url_has_the_host_as_it_was_asked_for),
        cmocka_unit_test(a_path_stays_one),
        cmocka_unit_test(two_dollars_are_one),
        cmocka_unit_test(other_names_are_the_same),
        cmocka_unit_test(what_a_target_has_is_known),
        cmocka_unit_test(a_host_that_requests_choose_is_known),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(parts_are_bounded),
        cmocka_unit_test(statuses_are_those_of_redirects),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
