/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "json/tree.h"
#include "views/render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory and files ---- */

static unsigned allocations; /* that may still succeed */

static void *some(const size_t size)
{
    return malloc(size);
}

static void *zeroed(const size_t size)
{
    return allocations > 0 && allocations-- ? calloc(1, size) : NULL;
}

static const struct duda_api_mem memory = {some, zeroed, realloc, free};

static struct {
    void *blocks[256];
    unsigned count;
} given;

static void *room_alloc(void *arg, size_t size)
{
    void *p = zeroed(size);

    (void)arg;
    assert_true(given.count < NUMBER_OF(given.blocks));
    if (p)
        given.blocks[given.count++] = p;
    return p;
}

static void drop_all(void)
{
    while (given.count > 0)
        free(given.blocks[--given.count]);
}

static struct mk_str page_text;

static struct mk_str read_file(void *arg, const char *name)
{
    static const struct {
        const char *name, *text;
    } files[] = {
        {"part", "<i>{{name}}</i>"}, {"inner/row", "<li>{{.}}</li>"}, {"open", "{{#a}}"},
        {"close", "{{/a}}"},         {"attribute", "<a href=\""},     {"self", "{{> self}}"},
        {"wrong", "a\n{{b c}}"},
    };

    (void)arg;
    if (strcmp(name, "page") == 0)
        return page_text;
    for (size_t i = 0; i < NUMBER_OF(files); i++) {
        if (strcmp(name, files[i].name) == 0)
            return mk_str_from(files[i].text);
    }
    return (struct mk_str){NULL, 0};
}

static struct mk_duda_template_room room;

static const struct mk_duda_template *template_of(struct mk_str text)
{
    room = (struct mk_duda_template_room){.alloc = room_alloc, .read = read_file};
    page_text = text;
    return mk_duda_template_new(&room, "page");
}

static int set_up(void **state)
{
    (void)state;
    allocations = UINT32_MAX;
    json_memory = &memory;
    return 0;
}

/* @return the page of a template and a tree, of which it says whether it was made */
static bool is_page(const struct mk_duda_template *t, const char *source, const char *expected)
{
    json_t *tree = json_parse_text(source, strlen(source), 0, NULL);
    const struct mk_duda_shown shown = {.item = tree};
    struct page page = {0};
    bool is_same;

    assert_non_null(tree);
    assert_int_equal(mk_duda_render(t, &shown, &page), 0);
    is_same = page.len == strlen(expected) && memcmp(page.p ? page.p : "", expected, page.len) == 0;
    if (!is_same)
        print_error("%.*s\n", (int)page.len, page.p);
    page_free(&page);
    json_delete(tree);
    return is_same;
}

/* ---- pages ---- */

static void makes_pages(void **state)
{
    static const struct {
        const char *text, *source, *page;
    } rows[] = {
        {"", "{}", ""},
        {"plain } { text", "{}", "plain } { text"},
        {"{{name}}", "{\"name\":\"Ann\"}", "Ann"},
        {"{{ name }}", "{\"name\":\"Ann\"}", "Ann"},
        {"{{a.b.c}}", "{\"a\":{\"b\":{\"c\":7}}}", "7"},
        {"[{{missing}}][{{a.b}}]", "{\"a\":1}", "[][]"},
        {"{{a}} {{b}} {{c}} {{d}} {{e}}", "{\"a\":true,\"b\":false,\"c\":null,\"d\":[1],\"e\":1.5}",
         "true false   1.5"},
        {"{{n}}", "{\"n\":9007199254740993}", "9007199254740993"},
        {"{{! no {{name }}x", "{\"name\":\"Ann\"}", "x"},
        {"{{#list}}({{.}}){{/list}}", "{\"list\":[1,\"b\"]}", "(1)(b)"},
        {"{{#list}}{{n}},{{/list}}", "{\"list\":[{\"n\":1},{\"n\":2}]}", "1,2,"},
        {"{{#list}}{{n}}{{outer}},{{/list}}",
         "{\"outer\":\"o\",\"list\":[{\"n\":1},{\"outer\":2}]}", "1o,2,"},
        {"{{#a}}{{#b}}{{.}}{{/b}};{{/a}}", "{\"a\":[{\"b\":[1,2]},{\"b\":[]},{\"b\":[3]}]}",
         "12;;3;"},
        {"{{#who}}{{name}}{{/who}}", "{\"who\":{\"name\":\"Ann\"}}", "Ann"},
        {"{{#text}}[{{.}}]{{/text}}", "{\"text\":\"t\"}", "[t]"},
        {"{{#yes}}y{{/yes}}{{#no}}n{{/no}}{{^no}}N{{/no}}{{^yes}}Y{{/yes}}",
         "{\"yes\":true,\"no\":false}", "yN"},
        {"{{^list}}none{{/list}}", "{\"list\":[]}", "none"},
        {"{{^absent}}none{{/absent}}", "{}", "none"},
        {"{{#zero}}z{{/zero}}{{#empty}}e{{/empty}}", "{\"zero\":0,\"empty\":\"\"}", ""},
        {"{{#l}}{{^x}}{{.}}{{/x}}{{/l}}", "{\"l\":[1,2]}", "12"},
        {"{{> part}}{{#list}}{{> inner/row}}{{/list}}", "{\"name\":\"<\",\"list\":[1]}",
         "<i>&lt;</i><li>1</li>"},
        {"{{raw html}}", "{\"html\":\"<b>\"}", "<b>"},
        {"{{.}}", "\"whole\"", "whole"},
        {"{{#.}}{{.}}{{/.}}", "[1,2]", "12"},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        const struct mk_duda_template *t = template_of(mk_str_from(rows[i].text));

        if (!t)
            fail_msg("row %zu: %s", i, room.why);
        if (!is_page(t, rows[i].source, rows[i].page))
            fail_msg("row %zu: not %s", i, rows[i].page);
        drop_all();
    }
}

/* What others have written becomes no markup, no attribute and no script. */
static void escapes(void **state)
{
    static const struct {
        const char *text, *value, *page;
    } rows[] = {
        {"{{v}}", "<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
        {"<a title=\"{{v}}\">", "\\\" onclick=\\\"x", "<a title=\"&quot; onclick=&quot;x\">"},
        {"<a title='{{v}}'>", "' onclick='x", "<a title='&#39; onclick=&#39;x'>"},
        {"{{v}}", "&lt;", "&amp;lt;"},
        {"{{v}}", "a\\nb\\tc", "a\nb\tc"},
        {"{{v}}", "\\u0001", "\xef\xbf\xbd"},
        {"<a href=\"{{v}}\">", "javascript:alert(1)", "<a href=\"#\">"},
        {"<a href=\"{{v}}\">", "JaVaScRiPt:alert(1)", "<a href=\"#\">"},
        {"<a href=\"{{v}}\">", " javascript:x", "<a href=\"#\">"},
        {"<a href=\"{{v}}\">", "java\\tscript:x", "<a href=\"#\">"},
        {"<a href=\"{{v}}\">", "data:text/html,x", "<a href=\"#\">"},
        {"<a href=\"{{v}}\">", "vbscript:x", "<a href=\"#\">"},
        {"<a href=\"{{v}}\">", ":x", "<a href=\"#\">"},
        {"<a href=\"{{v}}\">", "https://x/?a=1&b", "<a href=\"https://x/?a=1&amp;b\">"},
        {"<a href=\"{{v}}\">", "mailto:a@b", "<a href=\"mailto:a@b\">"},
        {"<a href=\"{{v}}\">", "path/a:b", "<a href=\"path/a:b\">"},
        {"<a HREF = '{{v}}'>", "javascript:x", "<a HREF = '#'>"},
        {"<form action=\"{{v}}\">", "javascript:x", "<form action=\"#\">"},
        {"<img src=\"{{v}}\">", "javascript:x", "<img src=\"#\">"},
        {"<a href=\"/items/{{v}}\">", "javascript:x", "<a href=\"/items/javascript:x\">"},
        {"<a href=\"a{{v}}\">", "b:c", "<a href=\"a#\">"},
        {"<input disabled value=\"{{v}}\">", "x", "<input disabled value=\"x\">"},
        {"<input {{#v}}checked{{/v}}>", "x", "<input checked>"},
        {"<p class=\"a{{#v}} b{{/v}}\" {{#v}}title=\"{{v}}\"{{/v}}>", "x",
         "<p class=\"a b\" title=\"x\">"},
        {"<script>a</script>{{v}}", "x", "<script>a</script>x"},
        {"<!-- <b --><p>{{v}}", "x", "<!-- <b --><p>x"},
        {"<!DOCTYPE html>{{v}}", "x", "<!DOCTYPE html>x"},
        {"a < b {{v}}", "x", "a < b x"},
    };
    char source[128];

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        const struct mk_duda_template *t = template_of(mk_str_from(rows[i].text));

        if (!t)
            fail_msg("row %zu: %s", i, room.why);
        (void)snprintf(source, sizeof(source), "{\"v\":\"%s\"}", rows[i].value);
        if (!is_page(t, source, rows[i].page))
            fail_msg("row %zu: not %s", i, rows[i].page);
        drop_all();
    }
}

static void refuses_templates(void **state)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"a\n{{name", "page:2: {{ has no }}"},
        {"{{}}", "page:1: {{}} has no name"},
        {"{{a b}}", "page:1: {{a b}} has no name"},
        {"{{<b>}}", "has no name"},
        {"{{.a}}", "has no name"},
        {"{{a..b}}", "has no name"},
        {"{{#a}}\n", "page:1: the section a has no end"},
        {"\n{{#a}}{{#b}}\n{{/b}}", "page:2: the section a has no end"},
        {"{{/a}}", "page:1: {{/a}} ends no section"},
        {"{{#a}}\n{{/b}}", "page:2: {{/b}} ends no section"},
        {"{{> none}}", "page:1: none cannot be read"},
        {"{{> ../x}}", "names no file below the folder"},
        {"{{> /etc/passwd}}", "names no file below the folder"},
        {"{{> }}", "names no file below the folder"},
        {"{{> wrong}}", "wrong:2: {{b c}} has no name"},
        {"{{> self}}", "self:1: more than 8 partials are in each other"},
        {"{{> open}}{{/a}}", "open:1: the section a has no end"},
        {"{{#a}}{{> close}}", "close:1: a section ends that began in another file"},
        {"{{> attribute}}\n<b>{{x}}</b>\" onclick=\"{{y}}\">", "{{y}} is in an attribute"},
        {"<script>{{x}}</script>", "page:1: {{x}} is in a script or style, where escaping"},
        {"<script>a='</scripty>{{x}}'</script>", "in a script or style"},
        {"<STYLE>{{x}}</STYLE>", "in a script or style"},
        {"<!-- {{x}} -->", "in a comment"},
        {"<!-- > {{x}} -->", "in a comment"},
        {"<a {{x}}>", "in a tag"},
        {"<{{x}}>", "in a tag"},
        {"<b{{x}}>", "in the name of a tag"},
        {"<a b{{x}}=1>", "in the name of an attribute"},
        {"<a title={{x}}>", "in an attribute without quotes"},
        {"<a title=x{{x}}>", "in an attribute without quotes"},
        {"<a =\"{{x}}\">", "in an attribute without quotes"},
        {"<a title=\"x\" =\"{{x}}\">", "in an attribute without quotes"},
        {"<a onclick=\"{{x}}\">", "an attribute that is a script or style"},
        {"<a\nONLOAD = '{{x}}'>", "an attribute that is a script or style"},
        {"<a style=\"{{x}}\">", "an attribute that is a script or style"},
        {"<iframe srcdoc=\"{{x}}\">", "an attribute that is a script or style"},
        {"<a title=\"{{raw x}}\">", "{{raw x}} stands between tags alone"},
        {"{{#a}}<a title=\"{{/a}}", "begins and ends in different tags"},
        {"<a {{#a}}on{{/a}}click=\"{{x}}\">", "an attribute that is a script or style"},
        {"<a o{{#a}}n{{/a}}click=\"{{x}}\">", "an attribute that is a script or style"},
        {"<a title{{#a}} {{/a}}=\"{{x}}\">", "an attribute that is a script or style"},
        {"<a title {{#a}} {{/a}}=\"{{x}}\">", "in an attribute without quotes"},
        {"<a {{#a}}title=\"{{/a}}x\">", "begins and ends in different tags"},
        {"<a href=\"{{#a}}/{{/a}}{{x}}\">", "begins and ends in different tags"},
        {"{{#a}}<script>{{/a}}", "begins and ends in different tags"},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        if (template_of(mk_str_from(rows[i].text)))
            fail_msg("row %zu is taken", i);
        if (!strstr(room.why, rows[i].why))
            fail_msg("row %zu: %s", i, room.why);
        drop_all();
    }
    assert_null(template_of(MK_STR("a\0b")));
}

static void bounds_templates(void **state)
{
    char text[(MK_DUDA_VIEW_SECTIONS + 1) * 14 + 1] = "", *large;

    (void)state;
    for (unsigned i = 0; i < MK_DUDA_VIEW_SECTIONS; i++)
        strcat(text, "{{#a}}");
    for (unsigned i = 0; i < MK_DUDA_VIEW_SECTIONS; i++)
        strcat(text, "{{/a}}");
    assert_non_null(template_of(mk_str_from(text)));
    assert_true(is_page(template_of(mk_str_from(text)), "{\"a\":[{\"a\":[1]}]}", ""));
    memmove(text + 6, text, strlen(text) + 1);
    assert_null(template_of(mk_str_from(text)));
    assert_non_null(strstr(room.why, "more than 16 sections"));
    large = calloc(1, MK_DUDA_VIEW_BYTES + 1);
    assert_non_null(large);
    memset(large, 'a', MK_DUDA_VIEW_BYTES + 1);
    assert_non_null(template_of((struct mk_str){large, MK_DUDA_VIEW_BYTES}));
    assert_null(template_of((struct mk_str){large, MK_DUDA_VIEW_BYTES + 1}));
    for (size_t i = 0; i + 6 <= MK_DUDA_VIEW_STEPS * 6; i += 6)
        memcpy(large + i, "{{aa}}", 6);
    assert_non_null(template_of((struct mk_str){large, MK_DUDA_VIEW_STEPS * 6}));
    memcpy(large + MK_DUDA_VIEW_STEPS * 6, "{{aa}}", 6);
    assert_null(template_of((struct mk_str){large, (MK_DUDA_VIEW_STEPS + 1) * 6}));
    free(large);
    drop_all();
}

static int render_loops(const char *text, unsigned n)
{
    const struct mk_duda_template *t = template_of(mk_str_from(text));
    char *source = calloc(n, 2);
    const size_t len = 2 * (size_t)n - 1;
    struct page page = {0};
    struct mk_duda_shown shown = {0};
    json_t *tree;
    int err;

    for (size_t i = 0; i < len; i++)
        source[i] = i == 0 ? '[' : i + 1 == len ? ']' : i % 2 ? '1' : ',';
    tree = json_parse_text(source, len, 0, NULL);
    assert_true(t && tree);
    shown.item = tree;
    err = mk_duda_render(t, &shown, &page);
    page_free(&page);
    json_delete(tree);
    free(source);
    drop_all();
    return err;
}

static void bounds_pages(void **state)
{
    char large[4096];

    (void)state;
    assert_int_equal(render_loops("{{#.}}x{{/.}}", 1000), 0);
    assert_int_equal(render_loops("{{#.}}x{{/.}}", 600000), MK_E_LIMIT);
    memset(large, 'a', sizeof(large));
    memcpy(large, "{{#.}}", 6);
    strcpy(large + sizeof(large) - 7, "{{/.}}");
    assert_int_equal(render_loops(large, 1000), 0);
    assert_int_equal(render_loops(large, 4000), MK_E_LIMIT);
}

/* ---- structs ---- */

struct line {
    const char *what;
    int64_t count;
};

struct order {
    const char *name, *nothing;
    int64_t number;
    double price;
    int is_gift;
    struct duda_list lines, words, none;
};

#define TO(member) .to = offsetof(struct order, member)
static const struct duda_input line_rows[] = {
    {.name = "what", .type = DUDA_TEXT, .to = offsetof(struct line, what)},
    {.name = "count", .type = DUDA_INTEGER, .to = offsetof(struct line, count)},
    {0}};
static const struct duda_input word = {.type = DUDA_TEXT};
static const struct duda_input order_rows[] = {
    {.name = "customer.name", .type = DUDA_TEXT, TO(name)},
    {.name = "nothing", .type = DUDA_TEXT, TO(nothing)},
    {.name = "number", .type = DUDA_INTEGER, TO(number)},
    {.name = "price", .type = DUDA_NUMBER, TO(price)},
    {.name = "gift", .type = DUDA_FLAG, TO(is_gift)},
    {.name = "lines",
     .type = DUDA_LIST,
     TO(lines),
     .items = line_rows,
     .item_size = sizeof(struct line)},
    {.name = "words", .type = DUDA_LIST, TO(words), .items = &word},
    {.name = "none", .type = DUDA_LIST, TO(none), .items = &word},
    {0}};

static void shows_structs(void **state)
{
    static const struct line lines[] = {{"tea", 2}, {"<cup>", 1}};
    static const char *const words[] = {"a", "b"};
    static const struct order order = {.name = "Ann",
                                       .number = -5,
                                       .price = 2.5,
                                       .is_gift = 1,
                                       .lines = {lines, 2},
                                       .words = {words, 2}};
    const struct mk_duda_shown shown = {.rows = order_rows, .data = &order};
    const struct mk_duda_template *t =
        template_of(MK_STR("{{customer.name}} [{{nothing}}] {{number}} {{price}} "
                           "{{gift}}:{{#lines}} {{count}}x{{what}} of "
                           "{{number}}{{/lines}};{{#words}}{{.}}{{/words}}{{^none}}!{{/"
                           "none}}{{#none}}?{{/none}}{{absent}}"
                           "{{#gift}}+{{/gift}}{{#nothing}}?{{/nothing}}{{lines}}"));
    struct page page = {0};

    (void)state;
    assert_non_null(t);
    assert_int_equal(mk_duda_render(t, &shown, &page), 0);
    page_bytes(&page, (struct mk_str){"", 1});
    assert_string_equal(page.p, "Ann [] -5 2.5 true: 2xtea of -5 1x&lt;cup&gt; of -5;ab!+");
    page_free(&page);
    drop_all();
}

static void survives_failing_allocations(void **state)
{
    unsigned n = 0;

    (void)state;
    for (;; n++) {
        allocations = n;
        if (template_of(MK_STR("{{> part}}{{#a}}{{> part}}{{/a}}")))
            break;
        assert_non_null(strstr(room.why, "no memory"));
        drop_all();
    }
    assert_int_equal(n, 4);
    allocations = UINT32_MAX;
    drop_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(makes_pages, set_up),
        cmocka_unit_test_setup(escapes, set_up),
        cmocka_unit_test_setup(refuses_templates, set_up),
        cmocka_unit_test_setup(bounds_templates, set_up),
        cmocka_unit_test_setup(bounds_pages, set_up),
        cmocka_unit_test_setup(shows_structs, set_up),
        cmocka_unit_test_setup(survives_failing_allocations, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
