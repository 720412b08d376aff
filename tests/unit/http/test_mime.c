/* SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"

#include "http/mime.h"

static struct mk_mime_entry entries[] = {
    {MK_STR_INIT("txt"), MK_STR_INIT("text/old")},
    {MK_STR_INIT("html"), MK_STR_INIT("text/html")},
    {MK_STR_INIT("css"), MK_STR_INIT("text/css")},
    {MK_STR_INIT("txt"), MK_STR_INIT("text/plain")},
    {MK_STR_INIT("htm"), MK_STR_INIT("text/html")},
    {MK_STR_INIT("gz"), MK_STR_INIT("application/gzip")},
    {MK_STR_INIT("7z"), MK_STR_INIT("application/x-7z-compressed")},
};

static void finds_types(void **state)
{
    static const struct {
        const char *sentence, *name, *type;
    } rows[] = {
        {"an extension", "a.html", "text/html"},
        {"in capitals", "A.HTML", "text/html"},
        {"the last extension counts", "a.tar.gz", "application/gzip"},
        {"the last line of a file wins", "a.txt", "text/plain"},
        {"an extension that begins another", "a.htm", "text/html"},
        {"with a digit", "a.7Z", "application/x-7z-compressed"},
        {"in a folder", "/a.b/c.css", "text/css"},
        {"a dot in the folder only", "/a.css/c", "other"},
        {"unknown", "a.xyz", "other"},
        {"longer than a known one", "a.htmlx", "other"},
        {"no extension", "README", "other"},
        {"an empty extension", "a.", "other"},
        {"nothing", "", "other"},
    };
    struct mk_mime m = {entries, sizeof(entries) / sizeof(entries[0]), MK_STR("other")};
    struct guard area = guard_open(4096);

    (void)state;
    mk_mime_sort(&m);
    assert_int_equal(m.count, 6);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mk_str type = mk_mime_of(&m, guard_str(&area, mk_str_from(rows[i].name)));

        if (type.len != strlen(rows[i].type) || memcmp(type.p, rows[i].type, type.len) != 0)
            fail_msg("%s: gave %s", rows[i].sentence, show(type));
    }
    guard_close(&area);
}

static void an_empty_table_falls_back(void **state)
{
    struct mk_mime m = {NULL, 0, MK_STR("other")};

    (void)state;
    mk_mime_sort(&m);
    assert_int_equal(mk_mime_of(&m, MK_STR("a.html")).len, 5);
}

static void knows_text(void **state)
{
    static const struct {
        const char *type;
        bool text;
    } rows[] = {
        {"text/html", true},
        {"TEXT/Plain", true},
        {"text/html; level=1", true},
        {"text/html; charset=utf-8", false},
        {"text/html;Charset=x", false},
        {"application/javascript", true},
        {"application/json", true},
        {"application/xml", true},
        {"application/xhtml+xml", true},
        {"image/svg+xml", true},
        {"image/png", false},
        {"application/octet-stream", false},
        {"application/jsonx", false},
        {"text", false},
        {"+xml", false},
        {"", false},
    };
    struct guard area = guard_open(4096);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (mk_mime_is_text(guard_str(&area, mk_str_from(rows[i].type))) != rows[i].text)
            fail_msg("%s", rows[i].type);
    }
    guard_close(&area);
}

static void knows_valid_types(void **state)
{
    static const struct {
        struct mk_str type;
        bool valid;
    } rows[] = {
        {MK_STR_INIT("text/html"), true},
        {MK_STR_INIT("application/vnd.a+json; charset=\"utf-8\""), true},
        {MK_STR_INIT("text"), false},
        {MK_STR_INIT("text/"), false},
        {MK_STR_INIT("/html"), false},
        {MK_STR_INIT("text/ht ml"), false},
        {MK_STR_INIT("text/html/x"), false},
        {MK_STR_INIT("text/html\r\nA: b"), false},
        {MK_STR_INIT("text/html; a=b\r\nA: b"), false},
        {MK_STR_INIT("text/html;\0"), false},
        {MK_STR_INIT(";"), false},
        {MK_STR_INIT(""), false},
    };
    struct guard area = guard_open(4096);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (mk_mime_is_valid(guard_str(&area, rows[i].type)) != rows[i].valid)
            fail_msg("%s", show(rows[i].type));
    }
    guard_close(&area);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_types),
        cmocka_unit_test(an_empty_table_falls_back),
        cmocka_unit_test(knows_text),
        cmocka_unit_test(knows_valid_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
