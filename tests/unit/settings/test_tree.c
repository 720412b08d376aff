/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "settings/tree.h"

static struct mk_section *add_section(struct mk_tree *t, const char *name)
{
    struct mk_section *s =
        mk_tree_add_section(t, mk_str_from(name), &(struct mk_origin){.line = 1});

    assert_non_null(s);
    return s;
}

static void add(struct mk_tree *t, struct mk_section *s, const char *key, const char *value,
                unsigned line)
{
    const struct mk_origin at = {.line = line};

    assert_non_null(mk_tree_add(t, s, mk_str_from(key), mk_str_from(value), &at, &at));
}

static void finds_the_first_setting_of_a_key(void **state)
{
    struct mk_arena arena;
    struct mk_tree tree;
    struct mk_section *s;

    (void)state;
    mk_arena_init(&arena, NULL, 0, SIZE_MAX);
    mk_tree_init(&tree, &arena);
    assert_null(mk_tree_find(&tree, "SERVER", "Listen"));
    add(&tree, add_section(&tree, "HOST"), "Listen", "other", 2);
    add_section(&tree, "SERVER");
    s = add_section(&tree, "Server");
    add(&tree, s, "listen", "first", 5);
    add(&tree, s, "Listen", "second", 6);
    assert_true(mk_str_eq(mk_tree_find(&tree, "SERVER", "Listen")->value, MK_STR("first")));
    assert_int_equal(mk_tree_place(&tree, "server", "LISTEN")->line, 5);
    assert_null(mk_tree_find(&tree, "SERVER", "Liste"));
    assert_null(mk_tree_find(&tree, "MIMETYPES", "Listen"));
    mk_arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_first_setting_of_a_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
