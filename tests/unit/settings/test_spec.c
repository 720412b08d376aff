/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/heap.h"
#include "settings/field.h"

/* Tables that were built with another header, paths, and what a site inherits. */

struct target {
    int64_t number;
    const char *text, *path;
};

/* As rows might have been: without what came last... */
struct old_field {
    const char *name, *alias;
    uint8_t type, flags;
    uint16_t offset;
    uint32_t min;
    int64_t max;
    const char *fallback;
};
/* ...and as they may become. */
struct new_field {
    struct mk_field now;
    const char *more[3];
};

#define AT(member) offsetof(struct target, member)

static const struct old_field old_rows[] = {
    {.name = "Number", .type = MK_FIELD_INT, .max = 9, .offset = AT(number), .fallback = "4"},
    {.name = "Text", .type = MK_FIELD_STRING, .offset = AT(text), .fallback = "t"},
};
static const struct new_field new_rows[] = {
    {.now =
         {.name = "Number", .type = MK_FIELD_INT, .max = 9, .offset = AT(number), .fallback = "4"},
     .more = {"a", "b", "c"}},
    {.now = {.name = "Text", .type = MK_FIELD_STRING, .offset = AT(text), .fallback = "t"},
     .more = {"a", "b", "c"}},
};

struct run {
    struct mk_arena arena;
    struct mk_tree tree;
    struct mk_faults faults;
    struct mk_setup setup;
    struct target target;
};

static void init(struct run *r)
{
    *r = (struct run){0};
    mk_arena_init(&r->arena, NULL, 0, SIZE_MAX);
    mk_tree_init(&r->tree, &r->arena);
    mk_faults_init(&r->faults, &r->arena);
    r->setup = (struct mk_setup){.arena = &r->arena, .faults = &r->faults};
}

static struct mk_section *section(struct run *r, const char *const *pairs, unsigned line)
{
    const struct mk_origin at = {.file = "t.conf", .line = line};
    struct mk_section *s = mk_tree_add_section(&r->tree, MK_STR("T"), &at);

    for (; s && pairs && *pairs; pairs += 2)
        assert_non_null(
            mk_tree_add(&r->tree, s, mk_str_from(pairs[0]), mk_str_from(pairs[1]), &at, &at));
    assert_non_null(s);
    return s;
}

static void check_rows(const struct mk_section_spec *given)
{
    const char *const pairs[] = {"Text", "written", NULL};
    const struct mk_section_spec *ours;
    struct run r;

    init(&r);
    ours = mk_section_spec_ours(given, &r.arena);
    assert_non_null(ours);
    assert_int_equal(ours->field_size, sizeof(struct mk_field));
    assert_int_equal(mk_fields_defaults(ours, &r.target, &r.setup), 0);
    assert_int_equal(mk_fields_apply(ours, section(&r, pairs, 3), &r.target, &r.setup), 0);
    assert_int_equal(r.faults.count, 0);
    assert_int_equal(r.target.number, 4);
    assert_string_equal(r.target.text, "written");
    for (size_t i = 0; i < ours->nfields; i++)
        assert_int_equal(ours->fields[i].flags, 0);
    mk_arena_fini(&r.arena);
}

static void rows_of_an_older_header_are_read(void **state)
{
    /* Behind its own members an older spec has other bytes. */
    const struct {
        struct mk_section_spec spec;
        unsigned char behind[16];
    } old = {.spec = {.size = offsetof(struct mk_section_spec, flags),
                      .field_size = sizeof(struct old_field),
                      .name = "T",
                      .fields = (const struct mk_field *)(const void *)old_rows,
                      .nfields = 2,
                      .settings_size = sizeof(struct target),
                      .flags = 0xffff},
             .behind = {0xff}};
    struct mk_arena arena;

    (void)state;
    check_rows(&old.spec);
    mk_arena_init(&arena, NULL, 0, SIZE_MAX);
    assert_int_equal(mk_section_spec_ours(&old.spec, &arena)->flags, 0);
    mk_arena_fini(&arena);
}

static void rows_of_a_newer_header_are_read(void **state)
{
    const struct mk_section_spec spec = {.size = sizeof(struct mk_section_spec) + 8,
                                         .field_size = sizeof(struct new_field),
                                         .name = "T",
                                         .fields = (const struct mk_field *)(const void *)new_rows,
                                         .nfields = 2,
                                         .settings_size = sizeof(struct target)};
    /* Only what is of our size may be read of it, whatever its own. */
    unsigned char room[sizeof(spec) + 8] = {0};

    (void)state;
    memcpy(room, &spec, sizeof(spec));
    check_rows((const struct mk_section_spec *)(const void *)room);
}

static void rows_of_our_header_are_not_copied(void **state)
{
    static const struct mk_field fields[] = {
        {.name = "Number", .type = MK_FIELD_INT, .offset = AT(number)}};
    static const struct mk_section_spec spec = MK_SECTION("T", 0, struct target, fields);

    (void)state;
    assert_ptr_equal(mk_section_spec_ours(&spec, NULL), &spec);
}

static void no_memory_for_rows_is_survived(void **state)
{
    const struct mk_section_spec spec = {.size = sizeof(struct mk_section_spec),
                                         .field_size = sizeof(struct new_field),
                                         .fields = (const struct mk_field *)(const void *)new_rows,
                                         .nfields = 2};
    struct mk_arena arena;

    (void)state;
    mk_arena_init(&arena, NULL, 0, SIZE_MAX);
    mk_heap_fail_after(0);
    assert_null(mk_section_spec_ours(&spec, &arena));
    mk_heap_fail_after(-1);
    mk_arena_fini(&arena);
}

static const char *const no_files[] = {"stderr", NULL};
static const struct mk_field path_fields[] = {
    {.name = "Path", .type = MK_FIELD_PATH, .offset = AT(path), .names = no_files, .fallback = "d"},
    {.name = "Text", .type = MK_FIELD_STRING, .offset = AT(text)},
    {.name = "Number",
     .alias = "Count",
     .type = MK_FIELD_INT,
     .offset = AT(number),
     .fallback = "4"},
};
static const struct mk_section_spec path_spec = MK_SECTION("T", 0, struct target, path_fields);

static void paths_begin_at_the_directory(void **state)
{
    static const struct {
        const char *written, *dir, *read;
        unsigned line;
    } rows[] = {
        {"a/b", "/etc/m", "/etc/m/a/b", 1},
        {"/a", "/etc/m", "/a", 1},
        {"a", NULL, "a", 1},
        {"a", "/etc/m", "a", 0}, /* not from a file */
        {"stderr", "/etc/m", "stderr", 1},
        {"stderr2", "/etc/m", "/etc/m/stderr2", 1},
        {NULL, "/etc/m", "d", 1}, /* the default */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *const pairs[] = {rows[i].written ? "Path" : NULL, rows[i].written, NULL};
        struct run r;

        init(&r);
        r.setup.dir = rows[i].dir;
        assert_int_equal(mk_fields_defaults(&path_spec, &r.target, &r.setup), 0);
        assert_int_equal(
            mk_fields_apply(&path_spec, section(&r, pairs, rows[i].line), &r.target, &r.setup), 0);
        assert_string_equal(r.target.path, rows[i].read);
        mk_arena_fini(&r.arena);
    }
}

static void a_site_inherits_by_key(void **state)
{
    static const struct {
        const char *file[5], *site[5];
        const char *text;
        int64_t number;
    } rows[] = {
        {{NULL}, {NULL}, NULL, 4},
        {{"Text", "f", "Number", "1"}, {NULL}, "f", 1},
        {{NULL}, {"Text", "s"}, "s", 4},
        {{"Text", "f", "Number", "1"}, {"Text", "s"}, "s", 1},
        {{"Text", "f", "Number", "1"}, {"Number", "4"}, "f", 4},
        {{"Text", "f", "Number", "1"}, {"Count", "5"}, "f", 5},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mk_section merged = {0};
        struct run r;

        init(&r);
        assert_int_equal(mk_fields_defaults(&path_spec, &r.target, &r.setup), 0);
        assert_int_equal(mk_fields_inherit(&path_spec, section(&r, rows[i].site, 1),
                                           section(&r, rows[i].file, 2), &r.arena, &merged),
                         0);
        assert_int_equal(mk_fields_apply(&path_spec, &merged, &r.target, &r.setup), 0);
        assert_int_equal(r.faults.count, 0);
        assert_int_equal(r.target.number, rows[i].number);
        if (rows[i].text)
            assert_string_equal(r.target.text, rows[i].text);
        else
            assert_null(r.target.text);
        mk_arena_fini(&r.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_an_older_header_are_read),
        cmocka_unit_test(rows_of_a_newer_header_are_read),
        cmocka_unit_test(rows_of_our_header_are_not_copied),
        cmocka_unit_test(no_memory_for_rows_is_survived),
        cmocka_unit_test(paths_begin_at_the_directory),
        cmocka_unit_test(a_site_inherits_by_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
