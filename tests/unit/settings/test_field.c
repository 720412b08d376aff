/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/heap.h"
#include "base/limits.h"
#include "sample.h"
#include "settings/describe_int.h"

#include <stdio.h>

/* One run: a tree made by hand, the sample section filled from it. */
struct run {
    struct mk_arena arena;
    struct mk_tree tree;
    struct mk_faults faults;
    struct sample sample;
};

static void run_init(struct run *r)
{
    *r = (struct run){0};
    mk_arena_init(&r->arena, NULL, 0, SIZE_MAX);
    mk_tree_init(&r->tree, &r->arena);
    mk_faults_init(&r->faults, &r->arena);
}

static struct mk_section *add_section(struct run *r, const char *name, unsigned line)
{
    struct mk_origin at = {"t.conf", line, 1, MK_STR_INIT("[...]")};

    return mk_tree_add_section(&r->tree, mk_str_from(name), &at);
}

static int add(struct run *r, const char *key, const char *value, unsigned line)
{
    struct mk_origin at = {"t.conf", line, 5, MK_STR_INIT("    ...")};

    return mk_tree_add(&r->tree, r->tree.last, mk_str_from(key), mk_str_from(value), &at, &at)
               ? 0
               : MK_E_NOMEM;
}

static void test_messages(void **state)
{
    static const struct {
        const char *key, *value;
        const char *message; /* NULL: accepted */
    } rows[] = {
        {"Tiemout", "15", "unknown key \"Tiemout\" in [SERVER]; did you mean \"Timeout\"?"},
        {"Prot", "80", "unknown key \"Prot\" in [SERVER]; did you mean \"Port\"?"},
        {"Zzzzzz", "1", "unknown key \"Zzzzzz\" in [SERVER]"},
        {"workers", "256", NULL},
        {"Workers", "many", "Workers: expected a whole number from 0 to 256, got \"many\""},
        {"Workers", "257", "Workers: expected a whole number from 0 to 256, got \"257\""},
        {"Workers", "-1", "Workers: expected a whole number from 0 to 256, got \"-1\""},
        {"Workers", "", "Workers: expected a whole number from 0 to 256, got nothing"},
        {"MaxHeaders", "9223372036854775807", NULL},
        {"MaxHeaders", "x", "MaxHeaders: expected a whole number, got \"x\""},
        {"MaxHeaders", "9223372036854775808",
         "MaxHeaders: expected a whole number that is smaller, got \"9223372036854775808\""},
        {"Timeout", "fast", "Timeout: expected a time such as 15, 500ms or 2m, got \"fast\""},
        {"Timeout", "0", "Timeout: expected a time from 1s to 1d, got \"0\""},
        {"Timeout", "25h", "Timeout: expected a time from 1s to 1d, got \"25h\""},
        {"Timeout", "1d", NULL},
        {"MaxRequestSize", "1023B",
         "MaxRequestSize: expected a size of at least 1K, got \"1023B\""},
        {"MaxRequestSize", "big",
         "MaxRequestSize: expected a size such as 500, 64K or 8M, got \"big\""},
        {"FileCache", "0", NULL},
        {"FileCache", "9999999999G",
         "FileCache: expected a size that is smaller, got \"9999999999G\""},
        {"KeepAlive", "maybe", "KeepAlive: expected on or off, got \"maybe\""},
        {"keepalive", "TRUE", NULL},
        {"Scheduler", "x", "Scheduler: expected Fair, ReusePort or Third, got \"x\""},
        {"Scheduler", "fair", NULL},
        {"User", "", "User: expected a value, got nothing"},
        {"Indexfile", "", "Indexfile: expected one word or more, got nothing"},
        {"Listen", "", "Listen: expected a port"},
        {"Port", "80", NULL},
        {"Listen", "mute", "Listen: expected another value, got \"mute\""},
        {"Workers", "0123456789012345678901234567890123456789012345678901234567890123456789",
         "Workers: expected a whole number from 0 to 256, got "
         "\"012345678901234567890123456789012345678901234567890123456789...\""},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct run r;

        print_message("%s %s\n", rows[i].key, rows[i].value);
        run_init(&r);
        assert_non_null(add_section(&r, "server", 1));
        assert_int_equal(add(&r, rows[i].key, rows[i].value, 2), 0);
        assert_int_equal(sample_apply(&r.tree, &r.faults, &r.sample), 0);
        assert_int_equal(r.faults.count, rows[i].message ? 1 : 0);
        if (rows[i].message)
            assert_string_equal(r.faults.first->message, rows[i].message);
        mk_arena_fini(&r.arena);
    }
}

static void test_defaults(void **state)
{
    struct run r;

    (void)state;
    run_init(&r);
    assert_int_equal(sample_apply(&r.tree, &r.faults, &r.sample), 0);
    assert_int_equal(r.faults.count, 0);
    assert_true(r.sample.keep_alive);
    assert_int_equal(r.sample.timeout_ms, 15000);
    assert_int_equal(r.sample.size, 32768);
    assert_int_equal(r.sample.scheduler, 1);
    assert_null(r.sample.user);
    assert_int_equal(r.sample.index.count, 2);
    mk_arena_fini(&r.arena);
}

static void test_paths_one_a_line(void **state)
{
    static const struct mk_field fields[] = {
        {.name = "File", .type = MK_FIELD_PATH, .flags = MK_FIELD_REPEAT, .fallback = "/none"},
    };
    static const struct mk_section_spec spec = MK_SECTION("SERVER", 0, struct mk_words, fields);
    struct run r;
    struct mk_words files = {0};

    (void)state;
    run_init(&r);
    struct mk_setup ctx = {.arena = &r.arena, .faults = &r.faults, .dir = "/etc/x"};
    struct mk_section *section = add_section(&r, "SERVER", 1);

    assert_int_equal(mk_fields_defaults(&spec, &files, &ctx), 0);
    assert_int_equal(files.count, 1);
    assert_int_equal(add(&r, "File", "a b.pem", 2), 0);
    assert_int_equal(add(&r, "File", "/c.pem", 3), 0);
    assert_int_equal(mk_fields_apply(&spec, section, &files, &ctx), 0);
    assert_int_equal(r.faults.count, 0);
    assert_int_equal(files.count, 2);
    assert_string_equal(files.items[0].p, "/etc/x/a b.pem");
    assert_string_equal(files.items[1].p, "/c.pem");
    mk_arena_fini(&r.arena);
}

static void test_twice_names_the_first_line(void **state)
{
    struct run r;

    (void)state;
    run_init(&r);
    (void)add_section(&r, "SERVER", 3);
    assert_int_equal(add(&r, "Timeout", "2", 4), 0);
    (void)add_section(&r, "Server", 5); /* the same section, continued */
    assert_int_equal(add(&r, "timeout", "3", 6), 0);
    assert_int_equal(sample_apply(&r.tree, &r.faults, &r.sample), 0);
    assert_int_equal(r.faults.count, 1);
    assert_string_equal(r.faults.first->message, "Timeout is set twice; first in t.conf:4");
    assert_int_equal(r.faults.first->at.line, 6);
    assert_int_equal(r.sample.timeout_ms, 2000);
    mk_arena_fini(&r.arena);
}

static void test_words_replace_the_default_and_add_up(void **state)
{
    struct run r;
    char expected[200] = "", word[8];

    (void)state;
    run_init(&r);
    for (unsigned i = 0; i < 21; i++) { /* past some doublings, over several sections */
        if (i % 10 == 0)
            (void)add_section(&r, "SERVER", i + 1);
        (void)snprintf(word, sizeof(word), "%sw%u", i ? " " : "", i);
        memcpy(expected + strlen(expected), word, strlen(word) + 1);
        assert_int_equal(add(&r, "Indexfile", word, i + 2), 0);
    }
    assert_int_equal(sample_apply(&r.tree, &r.faults, &r.sample), 0);
    assert_int_equal(r.faults.count, 0);
    assert_ptr_equal(r.tree.first, r.tree.last);
    assert_string_equal(mk_field_format(&sample_fields[8], &r.sample, &r.arena), expected);
    assert_int_equal(mk_field_source(&sample_fields[8], r.tree.first)->key_at.line, 2);
    assert_null(mk_field_source(&sample_fields[0], r.tree.first));
    assert_null(mk_field_source(&sample_fields[0], NULL));
    mk_arena_fini(&r.arena);
}

static void test_sections(void **state)
{
    struct run r;

    (void)state;
    run_init(&r);
    (void)add_section(&r, "SERVRE", 1);
    (void)add_section(&r, "MIMETYPES", 2);
    assert_int_equal(add(&r, "png", "image/png", 3), 0);
    (void)add_section(&r, "mimetypes", 4);
    assert_int_equal(add(&r, "png", "image/png", 5), 0);
    (void)add_section(&r, "Completely other", 6);
    (void)add_section(&r, "SERVER", 7);
    (void)add_section(&r, "SERVER", 8);
    assert_int_equal(sample_apply(&r.tree, &r.faults, &r.sample), 0);
    assert_int_equal(r.faults.count, 2);
    assert_string_equal(r.faults.first->message,
                        "unknown section [SERVRE]; did you mean [SERVER]?");
    assert_string_equal(r.faults.last->message, "unknown section [Completely other]");
    assert_int_equal(r.sample.nlisten, 2); /* any key, and two such sections stay two */
    assert_int_equal(r.tree.last->at.line, 7);
    assert_null(r.tree.last->next);
    mk_arena_fini(&r.arena);
}

static void test_format_reads_back(void **state)
{
    static const struct {
        size_t field;
        const char *value, *text;
    } rows[] = {
        {0, "yes", "on"},      {0, "FALSE", "off"},     {1, "007", "7"},
        {3, "15", "15s"},      {3, "1500ms", "1500ms"}, {3, "120", "2m"},
        {3, "24h", "1d"},      {3, "90", "90s"},        {4, "32", "32K"},
        {4, "1500B", "1500B"}, {4, "1024", "1M"},       {5, "1500", "1500"},
        {5, "0", "0"},         {5, "1g", "1G"},         {6, "reuseport", "ReusePort"},
        {7, "a  b", "a  b"},   {8, "a \t b", "a b"},    {9, "80", ""},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        const struct mk_field *field = &sample_fields[rows[i].field];
        const char *value = rows[i].value;

        for (int again = 0; again < 2; again++) {
            struct run r;
            char text[64];

            run_init(&r);
            (void)add_section(&r, "SERVER", 1);
            assert_int_equal(add(&r, field->name, value, 2), 0);
            assert_int_equal(sample_apply(&r.tree, &r.faults, &r.sample), 0);
            assert_int_equal(r.faults.count, again && !*value);
            (void)snprintf(text, sizeof(text), "%s", mk_field_format(field, &r.sample, &r.arena));
            assert_string_equal(text, rows[i].text);
            mk_arena_fini(&r.arena);
            value = rows[i].text;
        }
    }
}

static int whole_run(struct run *r)
{
    if (!add_section(r, "SERVER", 1) || add(r, "Timeout", "x", 2) < 0 ||
        add(r, "Indexfile", "a b c d e", 3) < 0 || add(r, "User", "me", 4) < 0 ||
        add(r, "Tiemout", "1", 5) < 0)
        return MK_E_NOMEM;
    if (sample_apply(&r->tree, &r->faults, &r->sample) < 0)
        return MK_E_NOMEM;
    for (const struct mk_fault *f = r->faults.first; f; f = f->next) {
        if (!mk_fault_text(f, &r->arena))
            return MK_E_NOMEM;
    }
    return r->faults.no_memory ? MK_E_NOMEM : 0;
}

/* The ceiling of the arena hits each piece in turn, the failing heap each block. */
static void test_each_allocation_fails_once(void **state)
{
    long live = mk_heap_live();
    int result = MK_E_NOMEM;
    struct run r;

    (void)state;
    for (size_t max = 0; result != 0; max += 16) {
        run_init(&r);
        r.arena.max = max;
        result = whole_run(&r);
        assert_true(result == 0 || result == MK_E_NOMEM);
        mk_arena_fini(&r.arena);
        assert_true(mk_heap_live() == live);
    }
    result = MK_E_NOMEM;
    for (long n = 0; result != 0; n++) {
        run_init(&r);
        mk_heap_fail_after(n);
        result = whole_run(&r);
        mk_heap_fail_after(-1);
        assert_true(result == 0 || result == MK_E_NOMEM);
        mk_arena_fini(&r.arena);
        assert_true(mk_heap_live() == live);
    }
}

/* Words to choose from that fill the text about a setting to its last byte, and a byte more. */
static void test_text_about_a_setting_is_bounded(void **state)
{
    static char word[MK_LIMIT_FIELD_TEXT + 1];
    static const char *const names[] = {"on", word, NULL};
    static const struct mk_field field = {.name = "Key", .type = MK_FIELD_ENUM, .names = names};
    const size_t room = MK_LIMIT_FIELD_TEXT - strlen("on or ");
    struct mk_arena arena;
    char *text;

    (void)state;
    mk_arena_init(&arena, NULL, 0, SIZE_MAX);
    memset(word, 'x', room);
    text = mk_field_expected(&field, true, &arena);
    assert_non_null(text);
    assert_int_equal(strlen(text), MK_LIMIT_FIELD_TEXT);
    word[room] = 'x';
    assert_null(mk_field_expected(&field, true, &arena));
    mk_arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_paths_one_a_line),
        cmocka_unit_test(test_twice_names_the_first_line),
        cmocka_unit_test(test_words_replace_the_default_and_add_up),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_format_reads_back),
        cmocka_unit_test(test_text_about_a_setting_is_bounded),
        cmocka_unit_test(test_each_allocation_fails_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
