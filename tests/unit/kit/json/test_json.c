/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kit/json/json.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A copy that ends with its allocation, so that a sanitizer sees a read beyond it. */
static struct json parse(struct mk_str text, char **copy)
{
    *copy = malloc(text.len + !text.len);
    assert_non_null(*copy);
    memcpy(*copy, text.p, text.len);
    return json_parse((struct mk_str){*copy, text.len});
}

static void test_texts(void **state)
{
    static const struct {
        const char *text;
        enum json_kind kind;
    } rows[] = {
        {"null", JSON_NULL},
        {" true ", JSON_TRUE},
        {"false", JSON_FALSE},
        {"-0.5e+10", JSON_NUMBER},
        {"0", JSON_NUMBER},
        {"\"a\\u00e9\\ud83d\\ude00\\n\\/\"", JSON_STRING},
        {"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"", JSON_STRING},
        {"[1, [2], {\"a\": [] }]", JSON_ARRAY},
        {"{\"a\":1,\"b\":{}}", JSON_OBJECT},
        {"{}", JSON_OBJECT},
        {"", JSON_NONE},
        {" ", JSON_NONE},
        {"nul", JSON_NONE},
        {"nullx", JSON_NONE},
        {"True", JSON_NONE},
        {"01", JSON_NONE},
        {"-", JSON_NONE},
        {"+1", JSON_NONE},
        {"1.", JSON_NONE},
        {".5", JSON_NONE},
        {"1e", JSON_NONE},
        {"1 2", JSON_NONE},
        {"\"", JSON_NONE},
        {"\"\\\"", JSON_NONE},
        {"\"\\x\"", JSON_NONE},
        {"\"\\u12\"", JSON_NONE},
        {"\"\\ud800\"", JSON_NONE},
        {"\"\\udc00\"", JSON_NONE},
        {"\"\\ud800\\u0041\"", JSON_NONE},
        {"\"\t\"", JSON_NONE},
        {"\"\x80\"", JSON_NONE},
        {"\"\xc0\xaf\"", JSON_NONE},
        {"\"\xed\xa0\x80\"", JSON_NONE},
        {"\"\xf4\x90\x80\x80\"", JSON_NONE},
        {"\"\xe2\x82\"", JSON_NONE},
        {"[1,]", JSON_NONE},
        {"[,1]", JSON_NONE},
        {"[1", JSON_NONE},
        {"[1}", JSON_NONE},
        {"{\"a\"}", JSON_NONE},
        {"{\"a\":}", JSON_NONE},
        {"{\"a\":1,}", JSON_NONE},
        {"{a:1}", JSON_NONE},
        {"{\"a\":1,\"a\":2}", JSON_NONE},
        {"{} {}", JSON_NONE},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *copy;
        struct json value = parse(mk_str_from(rows[i].text), &copy);

        if (value.kind != rows[i].kind)
            fail_msg("row %zu: %s", i, rows[i].text);
        free(copy);
    }
}

/* Every beginning of a text is none, and none is read beyond its end. */
static void test_beginnings(void **state)
{
    static const char text[] =
        "{\"a\":[1,\"x\\u00e9\\ud83d\\ude00\xc3\xa9\",{\"b\":-1.5e3}],\"c\":null}";

    (void)state;
    for (size_t len = 0; len < sizeof(text); len++) {
        char *copy;
        struct json value = parse((struct mk_str){text, len}, &copy);

        assert_int_equal(value.kind, len == sizeof(text) - 1 ? JSON_OBJECT : JSON_NONE);
        free(copy);
    }
}

static void test_bounds(void **state)
{
    char text[4096];
    size_t len = 0;

    (void)state;
    memset(text, '[', JSON_DEPTH_MAX);
    memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
    assert_int_equal(json_parse((struct mk_str){text, 2 * JSON_DEPTH_MAX}).kind, JSON_ARRAY);
    memset(text, '[', JSON_DEPTH_MAX + 1);
    memset(text + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
    assert_int_equal(json_parse((struct mk_str){text, 2 * JSON_DEPTH_MAX + 2}).kind, JSON_NONE);
    for (int i = 0; i < JSON_MEMBERS_MAX; i++)
        len += (size_t)sprintf(text + len, "%c\"%d\":0", i ? ',' : '{', i);
    text[len] = '}';
    assert_int_equal(json_parse((struct mk_str){text, len + 1}).kind, JSON_OBJECT);
    len += (size_t)sprintf(text + len, ",\"one more\":0}");
    assert_int_equal(json_parse((struct mk_str){text, len}).kind, JSON_NONE);
}

static void test_members_and_items(void **state)
{
    struct json
        root = json_parse(MK_STR(
            "{ \"a\" : [ 1 , \"]\\\"\" , [2,3], {\"x\":\"}\"} ], \"b\": \"c\", \"d\":true }")),
        item;
    struct mk_str rest = json_member(root, "a").text;
    static const char *const items[] = {"1", "]\\\"", "2,3", "\"x\":\"}\""};

    (void)state;
    for (size_t i = 0; i < COUNT(items); i++) {
        item = json_next(&rest);
        assert_int_equal(item.text.len, strlen(items[i]));
        assert_memory_equal(item.text.p, items[i], item.text.len);
    }
    assert_int_equal(json_next(&rest).kind, JSON_NONE);
    assert_int_equal(json_member(root, "b").kind, JSON_STRING);
    assert_int_equal(json_member(root, "d").kind, JSON_TRUE);
    assert_int_equal(json_member(root, "c").kind, JSON_NONE); /* a value, not a name */
    assert_int_equal(json_member(json_parse(MK_STR("[]")), "a").kind, JSON_NONE);
}

static void test_strings(void **state)
{
    char room[64];
    struct mk_str text =
        json_string(json_parse(MK_STR("\"a\\n\\u00e9\\u20ac\\ud83d\\ude00\\\"\\\\\"")), room);

    (void)state;
    assert_int_equal(text.len, strlen("a\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"\\"));
    assert_memory_equal(text.p, "a\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"\\", text.len);
    assert_null(json_string(json_parse(MK_STR("\"a\\u0000\"")), room).p);
    assert_null(json_string(json_parse(MK_STR("1")), room).p);
    assert_non_null(json_string(json_parse(MK_STR("\"\"")), room).p);
}

static void test_counts(void **state)
{
    static const struct {
        const char *text;
        int64_t count; /* -1: none */
    } rows[] = {
        {"0", 0},
        {"1700000000", 1700000000},
        {"1.9", 1},
        {"9007199254740992", INT64_C(9007199254740992)},
        {"9007199254740993", -1},
        {"99999999999999999999", -1},
        {"-1", -1},
        {"1e3", -1},
        {"\"1\"", -1},
        {"null", -1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t count;
        bool is_count = json_count(json_parse(mk_str_from(rows[i].text)), &count);

        assert_int_equal(is_count ? count : -1, rows[i].count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),   cmocka_unit_test(test_beginnings),
        cmocka_unit_test(test_bounds),  cmocka_unit_test(test_members_and_items),
        cmocka_unit_test(test_strings), cmocka_unit_test(test_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
