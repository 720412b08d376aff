/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "service/routes.h"

#include <stdlib.h>
#include <string.h>

/* ---- a service without a server ---- */

static void *blocks[64];
static unsigned nblocks;
static bool is_set_up;

void *mk_duda_alloc(struct mk_duda_service *s, size_t size)
{
    (void)s;
    assert_true(nblocks < NUMBER_OF(blocks));
    return blocks[nblocks++] = calloc(1, size);
}

char *mk_duda_copy(struct mk_duda_service *s, const char *text, size_t len)
{
    return memcpy(mk_duda_alloc(s, len + 1), text, len);
}

bool mk_duda_is_set_up(const struct mk_duda_service *s, const char *call)
{
    (void)s;
    (void)call;
    return is_set_up;
}

static int setup(void **state)
{
    (void)state;
    is_set_up = true;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    while (nblocks > 0)
        free(blocks[--nblocks]);
    return 0;
}

static void nothing(duda_request_t *dr)
{
    (void)dr;
}

static struct mk_duda_service service_of(int level, char *name, bool is_root)
{
    return (struct mk_duda_service){.level = level,
                                    .ws = {.name = {name, strlen(name)}, .is_root = is_root}};
}

static void add(struct mk_duda_service *s, const char *pattern)
{
    const struct mk_duda_target target = {.function = nothing, .name = pattern};

    assert_int_equal(mk_duda_add_rule(s, "test", pattern, &target), 0);
}

struct path {
    const char *rest;
    enum mk_duda_outcome outcome;
    const char *target; /* of MK_DUDA_CALL */
};

static void assert_paths(const struct mk_duda_service *s, const struct path *rows, size_t n)
{
    struct mk_duda_match match;

    for (size_t i = 0; i < n; i++) {
        assert_int_equal(mk_duda_find(s, mk_str_from(rows[i].rest), false, &match),
                         rows[i].outcome);
        if (rows[i].outcome == MK_DUDA_CALL)
            assert_string_equal(match.target->name, rows[i].target);
    }
}

/* ---- the service's name ---- */

static void a_name_is_a_whole_segment(void **state)
{
    static const struct {
        const char *path, *rest;
    } rows[] = {{"/shop", ""},  {"/shop/", "/"}, {"/shop/a/b", "/a/b"}, {"/shopping", NULL},
                {"/sho", NULL}, {"/", NULL},     {"/Shop", NULL},       {"/other/shop", NULL}};
    const struct mk_duda_service s = service_of(1, (char[]){"shop"}, false);
    const struct mk_duda_service root = service_of(1, (char[]){"shop"}, true);

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct mk_str rest = mk_duda_rest(&s, mk_str_from(rows[i].path));

        assert_int_equal(rest.p != NULL, rows[i].rest != NULL);
        if (rest.p)
            assert_string_equal(rest.p, rows[i].rest);
        assert_string_equal(mk_duda_rest(&root, mk_str_from(rows[i].path)).p, rows[i].path);
    }
}

static void segments_that_are_empty_are_skipped(void **state)
{
    struct mk_str rest = MK_STR("//a///bc/");

    (void)state;
    assert_int_equal(mk_duda_next_segment(&rest).len, 1);
    assert_int_equal(mk_duda_next_segment(&rest).len, 2);
    assert_null(mk_duda_next_segment(&rest).p);
    assert_null(mk_duda_next_segment(&rest).p);
}

/* ---- level 1 ---- */

static void level_1_takes_the_first_prefix(void **state)
{
    static const struct path rows[] = {
        {"/a/x", MK_DUDA_CALL, "/a/"}, {"/a", MK_DUDA_CALL, "/a"}, {"/abc", MK_DUDA_CALL, "/a"},
        {"/b", MK_DUDA_NONE, NULL},    {"", MK_DUDA_NONE, NULL},   {"/", MK_DUDA_NONE, NULL},
    };
    struct mk_duda_service s = service_of(1, (char[]){"s"}, false);

    (void)state;
    add(&s, "/a/");
    add(&s, "/a");
    assert_paths(&s, rows, NUMBER_OF(rows));
    s.routes->root = (struct mk_duda_target){.function = nothing, .name = "root"};
    assert_paths(&s, (const struct path[]){{"", MK_DUDA_CALL, "root"}, {"/", MK_DUDA_CALL, "root"}},
                 2);
}

static void level_1_may_ask_for_a_slash(void **state)
{
    struct mk_duda_service s = service_of(1, (char[]){"s"}, false);
    struct mk_duda_match match;

    (void)state;
    add(&s, "/a");
    s.ws.url_force_redirect = 1;
    assert_int_equal(mk_duda_find(&s, MK_STR("/a"), false, &match), MK_DUDA_SLASH);
    assert_int_equal(mk_duda_find(&s, MK_STR("/a"), true, &match), MK_DUDA_CALL);
    assert_int_equal(mk_duda_find(&s, MK_STR("/a/"), false, &match), MK_DUDA_CALL);
}

static void level_1_counts_parameters(void **state)
{
    static const struct {
        const char *rest;
        int nparams; /* -1: it is not the method */
    } rows[] = {
        {"/i/m/a/bc", 2}, {"/i/m/a/bc/", 2},  {"//i/m//a/bc", 2},
        {"/i/m/a", -1},   {"/i/m/a/b/c", -1}, {"/i/m/aaaa/b", -1},
        {"/i/n/a/b", -1}, {"/j/m/a/b", -1},   {"/i", -1},
    };
    struct mk_duda_service s = service_of(1, (char[]){"s"}, false);
    struct duda_param second = {.max_len = 0}, first = {.next = &second, .max_len = 3};
    struct duda_method m = {
        .name = "m", .n_params = 2, .params = &first, .target = {.function = nothing, .name = "m"}};
    struct duda_interface i = {.name = "i", .methods = &m};
    struct mk_duda_match match;

    (void)state;
    mk_duda_routes_of(&s, "test")->interfaces = &i;
    for (size_t n = 0; n < NUMBER_OF(rows); n++) {
        const bool is_found =
            mk_duda_find(&s, mk_str_from(rows[n].rest), false, &match) == MK_DUDA_CALL;

        assert_int_equal(is_found, rows[n].nparams >= 0);
        assert_int_equal(match.nparams, rows[n].nparams >= 0 ? rows[n].nparams : 0);
    }
}

/* ---- level 2 ---- */

static void level_2_matches_segments(void **state)
{
    static const struct path rows[] = {
        {"/a/1/b", MK_DUDA_CALL, "/a/:x/b"},
        {"/a/1/b/more", MK_DUDA_CALL, "/a/:x/b"},
        {"/a/1/c", MK_DUDA_NONE, NULL},
        {"/a/1", MK_DUDA_NONE, NULL},
        {"/p/", MK_DUDA_CALL, "/p/"},
        {"/p/q", MK_DUDA_CALL, "/p/"},
        {"/p", MK_DUDA_SLASH, NULL},
        {"/1", MK_DUDA_NONE, NULL},
        {"", MK_DUDA_NONE, NULL},
    };
    struct mk_duda_service s = service_of(2, (char[]){"s"}, false);

    (void)state;
    add(&s, "/:alone"); /* never matches */
    add(&s, "/a/:x/b");
    add(&s, "/p/");
    assert_paths(&s, rows, NUMBER_OF(rows));
    s.routes->root = (struct mk_duda_target){.function = nothing, .name = "root"};
    assert_paths(&s, (const struct path[]){{"", MK_DUDA_SLASH, NULL}, {"/", MK_DUDA_CALL, "root"}},
                 2);
}

static void level_2_knows_its_variables(void **state)
{
    struct mk_duda_service s = service_of(2, (char[]){"s"}, false);
    struct mk_duda_match match;
    const struct mk_str rest = MK_STR("/a/one/b/two");
    struct mk_str value;

    (void)state;
    add(&s, "/a/:x/b/:yy");
    assert_int_equal(mk_duda_find(&s, rest, false, &match), MK_DUDA_CALL);
    value = mk_duda_variable(match.rule, rest, MK_STR("x"));
    assert_memory_equal(value.p, "one", value.len);
    value = mk_duda_variable(match.rule, rest, MK_STR("yy"));
    assert_memory_equal(value.p, "two", value.len);
    assert_null(mk_duda_variable(match.rule, rest, MK_STR("y")).p);
    assert_null(mk_duda_variable(match.rule, rest, MK_STR("a")).p);
}

/* ---- setting up ---- */

static void rules_come_in_duda_main_alone(void **state)
{
    struct mk_duda_service s = service_of(2, (char[]){"s"}, false);
    const struct mk_duda_target target = {.function = nothing, .name = "t"};
    struct mk_duda_match match;

    (void)state;
    assert_int_equal(mk_duda_find(&s, MK_STR("/a"), false, &match), MK_DUDA_NONE);
    is_set_up = false;
    assert_null(mk_duda_routes_of(&s, "test"));
    assert_int_equal(mk_duda_add_rule(&s, "test", "/a", &target), -1);
    assert_null(s.routes);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(a_name_is_a_whole_segment),      CASE(segments_that_are_empty_are_skipped),
        CASE(level_1_takes_the_first_prefix), CASE(level_1_may_ask_for_a_slash),
        CASE(level_1_counts_parameters),      CASE(level_2_matches_segments),
        CASE(level_2_knows_its_variables),    CASE(rules_come_in_duda_main_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
