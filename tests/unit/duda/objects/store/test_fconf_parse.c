/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "objects/store/fconf_parse.h"

/* Write a configuration as "SECTION{key=value;key=value;}SECTION{...}". */
static void show(struct duda_config *config, char *dst, size_t size)
{
    struct mk_list *section, *entry;

    dst[0] = 0;
    mk_list_foreach(section, &config->sections)
    {
        struct duda_config_section *s = mk_list_entry(section, struct duda_config_section, _head);

        (void)snprintf(dst + strlen(dst), size - strlen(dst), "%s{", s->name);
        mk_list_foreach(entry, &s->entries)
        {
            struct duda_config_entry *e = mk_list_entry(entry, struct duda_config_entry, _head);

            (void)snprintf(dst + strlen(dst), size - strlen(dst), "%s=%s;", e->key, e->val);
        }
        (void)snprintf(dst + strlen(dst), size - strlen(dst), "}");
    }
}

static void reads_what_is_written(void **state)
{
    static const struct {
        const char *sentence, *text, *shown;
    } rows[] = {
        {"nothing", "", ""},
        {"one section", "[A]\n    key value\n", "A{key=value;}"},
        {"no line end at last", "[A]\n    key value", "A{key=value;}"},
        {"line ends of DOS", "[A]\r\n    key value\r\n\r\n", "A{key=value;}"},
        {"a tab", "[A]\n\tkey\tvalue\n", "A{key=value;}"},
        {"blanks within and around", "[A]\n  k   two words  \n", "A{k=two words;}"},
        {"comments", "# a\n[A]\n# b\n    # c\n    k v # d\n#e", "A{k=v # d;}"},
        {"empty lines", "\n\n[A]\n\n    k v\n   \n    l w\n", "A{k=v;l=w;}"},
        {"two sections", "[A]\n k v\n[B]\n k w\n l x\n", "A{k=v;}B{k=w;l=x;}"},
        {"a section twice", "[A]\n k v\n[A]\n k w\n", "A{k=v;}A{k=w;}"},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        char why[MK_DUDA_FCONF_WHY_MAX] = "", shown[256];
        struct duda_config *config = mk_duda_fconf_parse("f", rows[i].text, why);

        if (!config)
            fail_msg("%s: %s", rows[i].sentence, why);
        show(config, shown, sizeof(shown));
        assert_string_equal(shown, rows[i].shown);
        assert_string_equal(config->file, "f");
        mk_duda_fconf_free(config);
    }
}

static void refuses_what_is_wrong(void **state)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {" key value\n", "line 1: a key before the first section"},
        {"key value\n", "line 1: a key that is not indented"},
        {"[A]\nkey value\n", "line 2: a key that is not indented"},
        {"[A]\n  k v\n    l w\n", "line 3: indented unlike the first key"},
        {"[A]\n  k v\n[B]\n\tl w\n", "line 4: indented unlike the first key"},
        {"[A]\n  k\n", "line 2: a key without a value"},
        {"[A]\n  k   \n", "line 2: a key without a value"},
        {"[A]\n[B]\n k v\n", "line 2: the section before is empty"},
        {"[A]\n k v\n[B]\n# nothing\n", "line 5: the last section is empty"},
        {"[A\n k v\n", "line 1: a section is a name in brackets"},
        {"[]\n k v\n", "line 1: a section is a name in brackets"},
        {"[", "line 1: a section is a name in brackets"},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        char why[MK_DUDA_FCONF_WHY_MAX] = "";

        assert_null(mk_duda_fconf_parse("f", rows[i].text, why));
        assert_string_equal(why, rows[i].why);
    }
}

static void lines_have_254_bytes(void **state)
{
    char text[512], why[MK_DUDA_FCONF_WHY_MAX] = "";

    (void)state;
    for (int len = MK_DUDA_FCONF_LINE_MAX; len <= MK_DUDA_FCONF_LINE_MAX + 1; len++) {
        struct duda_config *config;

        (void)snprintf(text, sizeof(text), "[A]\n k %0*d\n", len - 3, 7);
        config = mk_duda_fconf_parse("f", text, why);
        assert_int_equal(config != NULL, len == MK_DUDA_FCONF_LINE_MAX);
        mk_duda_fconf_free(config);
    }
    assert_string_equal(why, "line 2: longer than 254 bytes");
}

static void every_beginning_of_a_text_is_read_or_refused(void **state)
{
    static const char text[] = "# c\n[A]\n  k v w\n\n  # d\r\n[B] \r\n  l x\n";
    char why[MK_DUDA_FCONF_WHY_MAX];

    (void)state;
    for (size_t n = 0; n < sizeof(text); n++) {
        char *start = strndup(text, n);

        mk_duda_fconf_free(mk_duda_fconf_parse("f", start, why));
        free(start);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_is_written),
        cmocka_unit_test(refuses_what_is_wrong),
        cmocka_unit_test(lines_have_254_bytes),
        cmocka_unit_test(every_beginning_of_a_text_is_read_or_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
