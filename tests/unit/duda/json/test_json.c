/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "json/tree.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* An allocator that fails from one call on. */
static unsigned calls_left = UINT32_MAX;

static void *limited_alloc(const size_t size)
{
    return calls_left > 0 ? (calls_left--, malloc(size)) : NULL;
}

static void *limited_alloc_z(const size_t size)
{
    return calls_left > 0 ? (calls_left--, calloc(1, size)) : NULL;
}

static void *limited_realloc(void *p, const size_t size)
{
    return calls_left > 0 ? (calls_left--, realloc(p, size)) : NULL;
}

static const struct duda_api_mem memory = {limited_alloc, limited_alloc_z, limited_realloc, free};

static int prepare(void **state)
{
    (void)state;
    json_memory = &memory;
    return 0;
}

/* A sanitizer sees a byte read behind the text. @return the tree; *at is the offset where reading stopped */
static json_t *parse_exact(const char *text, size_t len, size_t *at)
{
    char *exact = malloc(len + !len);
    const char *stop = NULL;
    json_t *item;

    assert_non_null(exact);
    memcpy(exact, text, len);
    item = json_parse(exact, len, &stop);
    assert_true(stop >= exact && stop <= exact + len);
    *at = (size_t)(stop - exact);
    free(exact);
    return item;
}

static json_t *parse(const char *text)
{
    size_t at;

    return parse_exact(text, strlen(text), &at);
}

static void assert_print(const json_t *item, bool is_indented, const char *expected)
{
    char *text = json_print(item, is_indented);

    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

/* What is accepted, and how it is printed. */
static const struct {
    const char *text, *printed;
} accepted[] = {
    {"[]", "[]"},
    {" [ ] \r\n\t", "[]"},
    {"{}", "{}"},
    {"null", "null"},
    {"[true,false,null]", "[true,false,null]"},
    {"[0,-0,-1,1e2,1E+2,1e-2,1.5]", "[0,-0,-1,100,100,0.01,1.5]"},
    {"[9007199254740992,1e-400]", "[9007199254740992,0]"},
    {"[0.1,123456789.125,1e22,5e-324]", "[0.1,123456789.125,1e22,5e-324]"},
    {"[1e-99999999999999999999,0.0e999999999999]", "[0,0]"},
    {"[12345678901234567890.5e-19,0.00001234567e5]", "[1.2345678901234567,1.234567]"},
    {"1.7976931348623157e308", "1.7976931348623157e308"},
    {"\"\"", "\"\""},
    {"\"a/b\\/\\\"\\\\\"", "\"a/b/\\\"\\\\\""},
    {"\"\\b\\f\\n\\r\\t\\u001F\"", "\"\\u0008\\u000c\\u000a\\u000d\\u0009\\u001f\""},
    {"\"\\u0041\\u00e9\\u20AC\\uD834\\udd1e\"", "\"A\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e\""},
    {"\"\x7f\xef\xbf\xbf\xf4\x8f\xbf\xbf\xed\x9f\xbf\"",
     "\"\x7f\xef\xbf\xbf\xf4\x8f\xbf\xbf\xed\x9f\xbf\""},
    {"{\"a\":{\"b\":[{}]},\"a\":1,\"\":2}", "{\"a\":{\"b\":[{}]},\"a\":1,\"\":2}"},
    {"{ \"a\" : [ 1 , 2 ] }", "{\"a\":[1,2]}"},
};

static const struct {
    const char *text;
    size_t at;
} refused[] = {
    {"", 0},
    {" ", 1},
    {"[", 1},
    {"]", 0},
    {"[1,]", 3},
    {"[,1]", 1},
    {"[1 2]", 3},
    {"[1}", 2},
    {"{\"a\":1]", 6},
    {"{\"a\"}", 4},
    {"{\"a\":}", 5},
    {"{a:1}", 1},
    {"{1:1}", 1},
    {"{\"a\":1,}", 7},
    {"[] x", 3},
    {"1 1", 2},
    {"nul", 0},
    {"True", 0},
    {"nulll", 4},
    {"'a'", 0},
    {"[NaN]", 1},
    {"[Infinity]", 1},
    {"+1", 0},
    {"01", 1},
    {"-", 0},
    {"-01", 2},
    {"1.", 0},
    {".1", 0},
    {"1e", 0},
    {"1e+", 0},
    {"0x1", 1},
    {"/**/1", 0},
    {"\xef\xbb\xbf[]", 0},
    {"\f1", 0},
    {"\"", 1},
    {"\"a\n\"", 2},
    {"\"\\x\"", 1},
    {"\"\\u12\"", 1},
    {"\"\\u12g4\"", 1},
    {"\"\\ud800\"", 1},
    {"\"\\ud800\\u0041\"", 1},
    {"\"\\udc00\"", 1},
    {"\"\xc0\x80\"", 1},
    {"\"\xe0\x80\x80\"", 1},
    {"\"\xed\xa0\x80\"", 1},
    {"\"\xf4\x90\x80\x80\"", 1},
    {"\"\xf8\"", 1},
    {"\"\x80\"", 1},
    {"\"\xe2\x82\"", 1},
    {"1e99999999999999999999", 0},
    {"1e400", 0}, /* implementation-defined, as is what follows */
    {"\"\\u0000\"", 1},
};

static void test_accepted_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUMBER_OF(accepted); i++) {
        json_t *item = parse(accepted[i].text);

        assert_non_null(item);
        assert_print(item, false, accepted[i].printed);
        json_delete(item);
    }
}

static void test_refused_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUMBER_OF(refused); i++) {
        size_t at;

        assert_null(parse_exact(refused[i].text, strlen(refused[i].text), &at));
        assert_int_equal(at, refused[i].at);
    }
    assert_null(parse_exact("[\"a\0b\"]", 7, &(size_t){0}));
    assert_null(parse_exact("1\0", 2, &(size_t){0}));
}

static void test_texts_cut_at_each_byte(void **state)
{
    size_t at;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(accepted); i++) {
        for (size_t len = 0; len < strlen(accepted[i].text); len++)
            json_delete(parse_exact(accepted[i].text, len, &at));
    }
    for (size_t i = 0; i < NUMBER_OF(refused); i++) {
        for (size_t len = 0; len < strlen(refused[i].text); len++)
            json_delete(parse_exact(refused[i].text, len, &at));
    }
}

static void test_nesting(void **state)
{
    enum { DEEP = 100000 };
    char text[2 * JSON_DEPTH_MAX + 2];
    json_t *item, *deep = json_new(cJSON_Array);
    size_t at;

    (void)state;
    memset(text, '[', JSON_DEPTH_MAX + 1);
    memset(text + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
    assert_null(parse_exact(text, sizeof(text), &at));
    assert_int_equal(at, JSON_DEPTH_MAX);
    item = parse_exact(text + 1, sizeof(text) - 2, &at);
    assert_non_null(item);
    text[sizeof(text) - 1] = '\0';
    assert_print(item, false, text + 1);
    json_add(deep, item);
    assert_null(json_print(deep, true));
    for (int i = 0; i < DEEP; i++) {
        json_t *outer = json_new(cJSON_Array);

        json_add(outer, deep);
        deep = outer;
    }
    json_delete(deep);
}

static void test_indented(void **state)
{
    json_t *item = parse("{\"a\":[1,{\"b\":\"c\"},[]],\"d\":{}}");

    (void)state;
    assert_print(item, true,
                 "{\n\t\"a\":\t[1, {\n\t\t\t\"b\":\t\"c\"\n\t\t}, []],\n\t\"d\":\t{\n\t}\n}");
    json_delete(item);
}

static void test_tree(void **state)
{
    json_t *object = json_new(cJSON_Object), *list = json_new(cJSON_Array);

    (void)state;
    json_add_member(object, "List", list);
    json_add(list, json_new_number(1e99));
    json_add(list, json_new_string("x"));
    json_add(list, NULL);
    json_add(NULL, list);
    assert_ptr_equal(json_member(object, "lIST"), list);
    assert_null(json_member(object, "other"));
    assert_int_equal(json_size(list), 2);
    assert_int_equal(json_item(list, 0)->valueint, INT32_MAX);
    assert_string_equal(json_item(list, 1)->valuestring, "x");
    assert_null(json_item(list, 2));
    assert_null(json_item(list, -1));
    assert_null(json_new_string(NULL));
    assert_null(json_print(NULL, true));
    json_delete(object);
    json_delete(NULL);
}

/* Take an item out of its list, as services do. */
static json_t *take_out(json_t *list, json_t *item)
{
    if (item->prev)
        item->prev->next = item->next;
    else
        list->child = item->next;
    if (item->next)
        item->next->prev = item->prev;
    item->next = item->prev = NULL;
    return item;
}

static void test_items_move_between_trees(void **state)
{
    json_t *first = parse("{\"a\":[1,\"two\",{\"b\":9007199254740993}],\"c\":\"d\"}");
    json_t *second = parse("[\"x\"]"), *own = json_new(cJSON_Array), *list, *inner;

    (void)state;
    list = take_out(first, json_member(first, "a"));
    inner = take_out(list, json_item(list, 2));
    json_add_member(first, "inner", inner);
    json_add(second, list);
    json_add(own, second);
    assert_print(first, false, "{\"c\":\"d\",\"inner\":{\"b\":9007199254740993}}");
    json_add(own, take_out(first, inner));
    json_delete(first);
    assert_print(own, false, "[[\"x\",[1,\"two\"]],{\"b\":9007199254740993}]");
    json_delete(take_out(own, inner));
    json_add_member(own, "again", take_out(second, list));
    assert_string_equal(list->string, "again");
    json_delete(take_out(own, second));
    assert_print(own, false, "[[1,\"two\"]]");
    json_delete(own);
}

static void test_strings_are_replaced(void **state)
{
    json_t *item = parse("{\"a\":\"b\",\"c\":1}"), *one = json_member(item, "a");

    (void)state;
    one->valuestring = strdup("other");
    json_member(item, "c")->string = strdup("key");
    json_set_number(json_member(item, "key"), 2.5);
    json_add(item, json_new_string("last"));
    json_add_member(json_item(item, 2), "k", json_new(cJSON_NULL));
    assert_print(item, false, "{\"a\":\"other\",\"key\":2.5,\"\":\"last\"}");
    json_delete(item);
}

static void test_references_are_not_deleted_twice(void **state)
{
    json_t *item = parse("[[1,2],\"s\"]"), *to = json_new(cJSON_Array);

    (void)state;
    to->type |= cJSON_IsReference;
    to->child = json_item(item, 0)->child;
    json_add(item, to);
    assert_print(item, false, "[[1,2],\"s\",[1,2]]");
    json_delete(item);
}

/* More items than the memory of a text is made for. */
static void test_many_items(void **state)
{
    enum { MANY = 100000 };
    char *text = malloc(2 * MANY + 2);
    json_t *item;
    size_t at;

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < MANY; i++)
        memcpy(text + 2 * i, i == 0 ? "[7" : ",7", 2);
    memcpy(text + 2 * MANY, "]", 2);
    item = parse_exact(text, 2 * MANY + 1, &at);
    assert_int_equal(json_size(item), MANY);
    assert_print(item, false, text);
    json_delete(item);
    free(text);
}

/* A number of a seeded sequence. */
static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return *seed >> 32 | *seed << 32;
}

static void assert_number_survives(double number)
{
    char text[JSON_NUMBER_ROOM];
    double same;

    json_print_number(text, number);
    if (strcmp(text, "null") == 0)
        return;
    assert_ptr_equal(json_read_number(text, text + strlen(text), &same), text + strlen(text));
    assert_memory_equal(&same, &number, sizeof(same));
}

static void test_numbers_survive(void **state)
{
    static const char *const locales[] = {"C", "de_DE.UTF-8", "fr_FR.UTF-8"};
    uint64_t seed = 1;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(locales); i++) {
        (void)setlocale(LC_ALL, locales[i]); /* if the machine has it */
        for (int n = 0; n < 2000; n++) {
            uint64_t bits = next_random(&seed);
            double number;

            memcpy(&number, &bits, sizeof(number));
            assert_number_survives(number);
            assert_number_survives((double)(int64_t)bits / 1000);
        }
    }
    (void)setlocale(LC_ALL, "C");
}

static json_t *random_item(uint64_t *seed, int depth)
{
    uint64_t kind = next_random(seed) % (depth > 0 ? 7 : 5);
    char text[8] = "";
    json_t *list;

    if (kind == cJSON_Number)
        return json_new_number((double)(int64_t)next_random(seed) / 4096);
    for (int i = 0; i < 7; i++)
        text[i] = (char)(next_random(seed) % 127 + 1);
    if (kind == cJSON_String)
        return json_new_string(text);
    list = json_new((int)kind);
    for (uint64_t n = kind > cJSON_String ? next_random(seed) % 6 : 0; n > 0; n--) {
        json_t *item = random_item(seed, depth - 1);

        if (kind == cJSON_Object)
            json_add_member(list, text + n, item);
        else
            json_add(list, item);
    }
    return list;
}

static void test_random_trees_survive(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (int n = 0; n < 400; n++) {
        json_t *item = random_item(&seed, 6), *same;
        char *text = json_print(item, false), *indented = json_print(item, true);

        assert_non_null(text);
        assert_non_null(indented);
        same = parse(indented);
        assert_non_null(same);
        assert_print(same, false, text);
        json_delete(same);
        json_delete(item);
        free(text);
        free(indented);
    }
}

/* Build, read and print with memory for so many calls. @return false: something failed */
static bool use(unsigned calls)
{
    const char *text =
        "{\"key\":[1,\"two\",{\"t\":true}],"
        "\"long\":0.1000000000000000000000000000000000000000000000000000000000000000001}";
    const char *stop;
    json_t *tree, *other;
    char *printed;
    bool is_whole;

    calls_left = calls;
    tree = json_parse(text, strlen(text), &stop);
    other = json_new_string("x");
    json_add_member(tree, "y", other);
    printed = json_print(tree, true);
    is_whole = tree && other && other->string && printed;
    free(printed);
    if (!tree)
        json_delete(other);
    json_delete(tree);
    calls_left = UINT32_MAX;
    return is_whole;
}

static void test_failing_allocations(void **state)
{
    unsigned calls = 0;

    (void)state;
    while (!use(calls)) {
        calls++;
        assert_true(calls < 100);
    }
    assert_true(calls >= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted_texts),
        cmocka_unit_test(test_refused_texts),
        cmocka_unit_test(test_texts_cut_at_each_byte),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_indented),
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_items_move_between_trees),
        cmocka_unit_test(test_strings_are_replaced),
        cmocka_unit_test(test_references_are_not_deleted_twice),
        cmocka_unit_test(test_many_items),
        cmocka_unit_test(test_numbers_survive),
        cmocka_unit_test(test_random_trees_survive),
        cmocka_unit_test(test_failing_allocations),
    };

    return cmocka_run_group_tests(tests, prepare, NULL);
}
