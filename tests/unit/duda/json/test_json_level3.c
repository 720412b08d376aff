/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "json/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What level 3 adds: errors with a place, integers of 64 bits, pointers, patches and texts without a tree. */

static unsigned calls_left = UINT32_MAX;

static bool has_memory(void)
{
    return calls_left > 0 && calls_left-- > 0;
}

static void *limited_alloc(const size_t size)
{
    return has_memory() ? malloc(size) : NULL;
}

static void *limited_alloc_z(const size_t size)
{
    return has_memory() ? calloc(1, size) : NULL;
}

static void *limited_realloc(void *p, const size_t size)
{
    return has_memory() ? realloc(p, size) : NULL;
}

static const struct duda_api_mem memory = {limited_alloc, limited_alloc_z, limited_realloc, free};

static int prepare(void **state)
{
    (void)state;
    json_memory = &memory;
    return 0;
}

static json_t *parse(const char *text)
{
    struct json_fault fault = {0};
    json_t *item = json_parse_text(text, strlen(text), 0, &fault);

    if (!item)
        print_error("%s: %u:%u: %s\n", text, fault.line, fault.column, fault.reason);
    assert_non_null(item);
    return item;
}

/* Print and delete. */
static void assert_is(json_t *item, const char *expected)
{
    char *text = json_print(item, false);

    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
    json_delete(item);
}

static const struct {
    const char *text;
    int options;
    unsigned line, column;
    const char *reason;
} faults[] = {
    {"", 0, 1, 1, "a value is expected"},
    {"[1,\n  2,\n  x]", 0, 3, 3, "a value is expected"},
    {"\"\xc3\xa9\xe2\x82\xac\" 1", 0, 1, 6, "the text goes on after its value"},
    {"\r\n-", 0, 2, 1, "a number is expected"},
    {"[1e999]", 0, 1, 2, "the number is too large"},
    {"[\"a", 0, 1, 4, "the string does not end"},
    {"[\"\\x\"]", 0, 1, 3, "this may not be in a string"},
    {"[1 2]", 0, 1, 4, "a comma or ] is expected"},
    {"{\"a\":1 2}", 0, 1, 8, "a comma or } is expected"},
    {"{\"a\" 1}", 0, 1, 6, "a colon is expected"},
    {"{1}", 0, 1, 2, "a key is expected"},
    {"[{\"a\":1,\"b\":2,\"a\":3}]", JSON_UNIQUE_KEYS, 1, 21, "the object has a key twice"},
};

static void faults_have_a_place(void **state)
{
    char deep[600];
    struct json_fault fault;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(faults); i++) {
        fault = (struct json_fault){0};
        assert_null(
            json_parse_text(faults[i].text, strlen(faults[i].text), faults[i].options, &fault));
        assert_string_equal(fault.reason, faults[i].reason);
        assert_int_equal(fault.line, faults[i].line);
        assert_int_equal(fault.column, faults[i].column);
        assert_null(
            json_parse_text(faults[i].text, strlen(faults[i].text), faults[i].options, NULL));
    }
    memset(deep, '[', sizeof(deep));
    assert_null(json_parse_text(deep, sizeof(deep), 0, &fault));
    assert_string_equal(fault.reason, "nested too deep");
    assert_int_equal(fault.offset, JSON_DEPTH_MAX);
}

static void keys_may_be_there_twice(void **state)
{
    const char *text = "{\"a\":1,\"A\":2,\"a\":3}";
    json_t *item = parse(text);

    (void)state;
    assert_int_equal(json_member(item, "a")->valueint, 1);
    assert_int_equal(json_pointer(item, "/a")->valueint, 1);
    assert_is(item, text);
    item = json_parse_text("{\"a\":1,\"A\":2}", 13, JSON_UNIQUE_KEYS, NULL);
    assert_non_null(item);
    json_delete(item);
}

static const char *const exact_integers[] = {
    "9007199254740993",    "-9007199254740993",    "9223372036854775807", "-9223372036854775808",
    "9223372036854775808", "18446744073709551615", "9007199254740992",
};

static void integers_keep_all_digits(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUMBER_OF(exact_integers); i++)
        assert_is(parse(exact_integers[i]), exact_integers[i]);
    assert_is(parse("18446744073709551616"), "1.8446744073709552e19");
    assert_is(parse("1e17"), "1e17");
    assert_is(parse("-9223372036854775809"), "-9.223372036854776e18");
    assert_is(json_new_int64(INT64_MIN), "-9223372036854775808");
    assert_is(json_new_int64(-7), "-7");
    assert_is(json_new_uint64(UINT64_MAX), "18446744073709551615");
}

static void integers_are_read(void **state)
{
    static const struct {
        const char *text;
        int is_signed, is_unsigned; /* results */
        int64_t value;
        uint64_t magnitude;
    } rows[] = {
        {"-9223372036854775808", 0, -1, INT64_MIN, 0},
        {"9223372036854775807", 0, 0, INT64_MAX, INT64_MAX},
        {"9223372036854775808", -1, 0, 0, UINT64_C(1) << 63},
        {"18446744073709551615", -1, 0, 0, UINT64_MAX},
        {"18446744073709551616", -1, -1, 0, 0},
        {"1e3", 0, 0, 1000, 1000},
        {"9007199254740993.0", 0, 0, 9007199254740993, 9007199254740993},
        {"123456789012e7", 0, 0, 1234567890120000000, 1234567890120000000},
        {"-9223372036854775809", -1, -1, 0, 0},
        {"-0", 0, 0, 0, 0},
        {"9007199254740993.5", -1, -1, 0, 0},
        {"0.99999999999999999999", -1, -1, 0, 0},
        {"1e-999", -1, -1, 0, 0},
        {"0", 0, 0, 0, 0},
        {"-1", 0, -1, -1, 0},
        {"1.5", -1, -1, 0, 0},
        {"\"1\"", -1, -1, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        json_t *item = parse(rows[i].text);
        int64_t value = 0;
        uint64_t magnitude = 0;

        assert_int_equal(json_int64(item, &value), rows[i].is_signed);
        assert_int_equal(json_uint64(item, &magnitude), rows[i].is_unsigned);
        assert_true(rows[i].is_signed < 0 || value == rows[i].value);
        assert_true(rows[i].is_unsigned < 0 || magnitude == rows[i].magnitude);
        json_delete(item);
    }
    assert_int_equal(json_int64(NULL, &(int64_t){0}), -1);
    assert_int_equal(json_uint64(NULL, NULL), -1);
}

static void a_changed_number_prints_its_new_value(void **state)
{
    json_t *item = json_new_uint64(UINT64_MAX);
    int64_t value;

    (void)state;
    item->valuedouble = 5;
    assert_int_equal(json_int64(item, &value), 0);
    assert_int_equal(value, 5);
    assert_is(item, "5");
}

static void pointers_are_followed(void **state)
{
    static const struct {
        const char *path, *found;
    } rows[] = {
        {"", NULL}, /* the whole */
        {"/foo", "[\"bar\",\"baz\"]"},
        {"/foo/0", "\"bar\""},
        {"/", "0"},
        {"/a~1b", "1"},
        {"/c%d", "2"},
        {"/ ", "7"},
        {"/m~0n", "8"},
        {"/n/x/y", "9"},
        {"foo", "none"},
        {"/foo/2", "none"},
        {"/foo/-", "none"},
        {"/foo/00", "none"},
        {"/foo/99999999999999999999", "none"},
        {"/foo/0/x", "none"},
        {"/FOO", "none"},
        {"/m~2n", "none"},
        {"/m~", "none"},
        {"/n/x/", "none"},
    };
    json_t *item = parse("{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\" \":7,\"m~n\":8,"
                         "\"n\":{\"x\":{\"y\":9}}}");

    (void)state;
    assert_ptr_equal(json_pointer(item, ""), item);
    for (size_t i = 1; i < NUMBER_OF(rows); i++) {
        char *text = json_print(json_pointer(item, rows[i].path), false);

        assert_string_equal(text ? text : "none", rows[i].found);
        free(text);
    }
    assert_null(json_pointer(item, NULL));
    assert_null(json_pointer(NULL, "/a"));
    json_delete(item);
}

/* RFC 7396 appendix A. */
static const struct {
    const char *target, *patch, *result;
} patches[] = {
    {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
    {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
    {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
    {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
    {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
    {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
    {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
    {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
    {"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
    {"{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"},
    {"{\"a\":\"foo\"}", "null", "null"},
    {"{\"a\":\"foo\"}", "\"bar\"", "\"bar\""},
    {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
    {"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"},
    {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
    {"{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":18446744073709551615}",
     "{\"b\":2,\"a\":18446744073709551615}"},
};

static void patches_are_merged(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUMBER_OF(patches); i++) {
        json_t *target = parse(patches[i].target), *patch = parse(patches[i].patch);

        assert_is(json_merge_patch(target, patch), patches[i].result);
        assert_is(target, patches[i].target);
        assert_is(patch, patches[i].patch);
    }
    assert_null(json_merge_patch(NULL, NULL));
}

static void patches_are_bounded(void **state)
{
    json_t *deep = json_new(cJSON_Object);

    (void)state;
    for (int i = 0; i < 2 * JSON_DEPTH_MAX; i++) {
        json_t *outer = json_new(cJSON_Object);

        json_add_member(outer, "a", deep);
        deep = outer;
    }
    assert_null(json_merge_patch(NULL, deep));
    assert_null(json_merge_patch(deep, deep));
    assert_null(json_copy(deep));
    json_delete(deep);
}

/* ---- texts without a tree ---- */

struct sink {
    char text[100000];
    size_t len, most, room;
};

static int gather(void *user, const char *bytes, size_t len)
{
    struct sink *sink = user;

    if (sink->len + len > sink->room)
        return -1;
    sink->most = len > sink->most ? len : sink->most;
    memcpy(sink->text + sink->len, bytes, len);
    sink->len += len;
    return 0;
}

static void a_text_is_written(void **state)
{
    static struct sink sink = {.room = sizeof(sink.text) - 1};
    json_writer_t *w = json_writer_new(gather, &sink);
    json_t *item = parse("[1,{\"x\":[]}]");

    (void)state;
    json_write_object(w);
    json_write_key(w, "a\"");
    json_write_array(w);
    json_write_int64(w, INT64_MIN);
    json_write_number(w, 0.1);
    json_write_number(w, (double)NAN);
    json_write_bool(w, 1);
    json_write_close(w);
    json_write_key(w, "b");
    json_write_object(w);
    json_write_close(w);
    json_write_key(w, "c");
    json_write_item(w, item);
    json_write_key(w, "d");
    json_write_string(w, "\n\xc3\xa9");
    json_write_key(w, "e");
    json_write_string(w, NULL);
    json_write_close(w);
    assert_int_equal(json_writer_end(w), 0);
    assert_string_equal(sink.text, "{\"a\\\"\":[-9223372036854775808,0.1,null,true],\"b\":{},"
                                   "\"c\":[1,{\"x\":[]}],\"d\":\"\\u000a\xc3\xa9\",\"e\":null}");
    json_delete(item);
}

static void long_texts_leave_in_pieces(void **state)
{
    static struct sink sink = {.room = sizeof(sink.text) - 1};
    char *large = calloc(1, 10001);
    json_writer_t *w = json_writer_new(gather, &sink);
    json_t *item;

    (void)state;
    memset(large, 'x', 10000);
    json_write_array(w);
    for (int i = 0; i < 5; i++)
        json_write_string(w, large);
    for (int i = 0; i < 3000; i++)
        json_write_null(w);
    json_write_close(w);
    assert_int_equal(json_writer_end(w), 0);
    assert_in_range(sink.most, 1, 4096);
    item = json_parse_text(sink.text, sink.len, 0, NULL);
    assert_int_equal(json_size(item), 3005);
    json_delete(item);
    free(large);
}

/* Letters are calls: o object, a array, c close, k key, n null, b a string that is no UTF-8. */
static void write_calls(json_writer_t *w, const char *calls)
{
    for (; *calls; calls++) {
        if (*calls == 'o')
            json_write_object(w);
        else if (*calls == 'a')
            json_write_array(w);
        else if (*calls == 'c')
            json_write_close(w);
        else if (*calls == 'k')
            json_write_key(w, "k");
        else if (*calls == 'b')
            json_write_string(w, "\xff");
        else
            json_write_null(w);
    }
}

static void calls_out_of_place_end_the_text(void **state)
{
    static const char *const wrong[] = {"",    "o",  "on", "ok", "okc", "okkn", "nn",  "c",  "acc",
                                        "acn", "ak", "k",  "nc", "b",   "oknn", "aoc", "ncc"};
    static const char *const right[] = {"n", "ac", "oc", "oknc", "annc", "okacc"};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(wrong); i++) {
        struct sink *sink = calloc(1, sizeof(*sink));
        json_writer_t *w = json_writer_new(gather, sink);

        sink->room = sizeof(sink->text);
        write_calls(w, wrong[i]);
        assert_int_equal(json_writer_end(w), -1);
        free(sink);
    }
    for (size_t i = 0; i < NUMBER_OF(right); i++) {
        struct sink *sink = calloc(1, sizeof(*sink));
        json_writer_t *w = json_writer_new(gather, sink);

        sink->room = sizeof(sink->text);
        write_calls(w, right[i]);
        assert_int_equal(json_writer_end(w), 0);
        free(sink);
    }
    assert_null(json_writer_new(NULL, NULL));
    write_calls(NULL, "oackn");
    json_write_item(NULL, NULL);
    assert_int_equal(json_writer_end(NULL), -1);
}

static void a_full_receiver_ends_the_text(void **state)
{
    static struct sink sink = {.room = 10};
    json_writer_t *w = json_writer_new(gather, &sink);

    (void)state;
    json_write_array(w);
    for (int i = 0; i < 5000; i++)
        json_write_null(w);
    json_write_close(w);
    assert_int_equal(json_writer_end(w), -1);
    assert_int_equal(sink.len, 0);
    w = json_writer_new(gather, &sink);
    for (int i = 0; i <= JSON_DEPTH_MAX; i++)
        json_write_array(w);
    for (int i = 0; i <= JSON_DEPTH_MAX; i++)
        json_write_close(w);
    assert_int_equal(json_writer_end(w), -1);
}

/* @return false: a call failed for want of memory */
static bool use(unsigned calls)
{
    static const char text[] = "{\"a\":18446744073709551615,\"b\":[1,\"x\"],\"c\":{}}";
    static struct sink sink;
    json_t *tree, *number, *merged = NULL;
    json_writer_t *w;
    bool is_whole;

    sink = (struct sink){.room = sizeof(sink.text)};
    calls_left = calls;
    tree = json_parse_text(text, sizeof(text) - 1, JSON_UNIQUE_KEYS, NULL);
    number = tree ? json_new_int64(INT64_MAX) : NULL;
    if (number) {
        json_add_member(tree, "d", number);
        merged = json_merge_patch(tree, tree);
    }
    w = json_writer_new(gather, &sink);
    json_write_item(w, merged);
    is_whole = json_writer_end(w) == 0 && merged;
    calls_left = UINT32_MAX;
    json_delete(tree);
    json_delete(merged);
    return is_whole;
}

static void failing_allocations(void **state)
{
    unsigned calls = 0;

    (void)state;
    while (!use(calls)) {
        calls++;
        assert_true(calls < 200);
    }
    assert_true(calls > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_have_a_place),
        cmocka_unit_test(keys_may_be_there_twice),
        cmocka_unit_test(integers_keep_all_digits),
        cmocka_unit_test(integers_are_read),
        cmocka_unit_test(a_changed_number_prints_its_new_value),
        cmocka_unit_test(pointers_are_followed),
        cmocka_unit_test(patches_are_merged),
        cmocka_unit_test(patches_are_bounded),
        cmocka_unit_test(a_text_is_written),
        cmocka_unit_test(long_texts_leave_in_pieces),
        cmocka_unit_test(calls_out_of_place_end_the_text),
        cmocka_unit_test(a_full_receiver_ends_the_text),
        cmocka_unit_test(failing_allocations),
    };

    return cmocka_run_group_tests(tests, prepare, NULL);
}
