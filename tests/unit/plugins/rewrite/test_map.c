/* SPDX-License-Identifier: Apache-2.0 */
#include "map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct map map;
static struct map_fault fault;
static char *bytes;
static struct map_line *lines;
static uint32_t *slots;

/* In memory of exactly the text's size. */
static int read_text(const char *text, size_t len)
{
    const uint32_t nlines = rewrite_map_count((struct mk_str){text, len}),
                   nslots = rewrite_map_slots(nlines);

    bytes = malloc(len ? len : 1);
    lines = malloc(nlines * sizeof(*lines));
    slots = calloc(nslots, sizeof(*slots));
    assert_true(bytes && lines && slots);
    memcpy(bytes, text, len);
    return rewrite_map_read(&map, bytes, len, lines, slots, nslots, &fault);
}

static int drop(void **state)
{
    (void)state;
    free(bytes);
    free(lines);
    free(slots);
    bytes = NULL;
    lines = NULL;
    slots = NULL;
    return 0;
}

static void expect(const char *path, const char *query, const char *wanted)
{
    const struct map_line *line = rewrite_map_find(
        &map, mk_str_from(path), query ? mk_str_from(query) : (struct mk_str){NULL, 0});

    assert_int_equal(line != NULL, wanted != NULL);
    if (line && wanted) {
        assert_int_equal(line->to_len, strlen(wanted));
        assert_memory_equal(rewrite_map_target(&map, line).p, wanted, line->to_len);
    }
}

#define READ(text) read_text(text, sizeof(text) - 1)

static void addresses_are_found(void **state)
{
    (void)state;
    assert_int_equal(READ("/a /b\n  # no\n\n/c%20d\t/e 302\n/f?g=h /i"), 0);
    expect("/a", NULL, "/b");
    expect("/a", "x", "/b");
    expect("/c d", NULL, "/e");
    expect("/c%20d", NULL, NULL);
    expect("/f", "g=h", "/i");
    expect("/f", "g=", NULL);
    expect("/f", NULL, NULL);
    expect("/f?g=h", NULL, NULL);
    expect("/A", NULL, NULL);
    expect("", NULL, NULL);
}

static void a_line_with_the_query_comes_first(void **state)
{
    (void)state;
    assert_int_equal(READ("/a /plain\n/a?b /with\n/a? /empty\n"), 0);
    expect("/a", "b", "/with");
    expect("/a", "c", "/plain");
    expect("/a", "", "/empty");
    expect("/a", NULL, "/plain");
}

static void statuses_are_kept(void **state)
{
    (void)state;
    assert_int_equal(READ("/a /b\n/c /d 308\n"), 0);
    assert_int_equal(rewrite_map_find(&map, MK_STR("/a"), (struct mk_str){NULL, 0})->status, 301);
    assert_int_equal(rewrite_map_find(&map, MK_STR("/c"), (struct mk_str){NULL, 0})->status, 308);
}

static void an_empty_map_has_nothing(void **state)
{
    (void)state;
    assert_int_equal(READ(""), 0);
    expect("/", NULL, NULL);
    expect("/", "", NULL);
}

static void the_same_address_is_refused(void **state)
{
    (void)state;
    assert_int_equal(READ("/a /b\n\n/%61 /c\n"), MK_E_INVALID);
    assert_int_equal(fault.line, 3);
    assert_int_equal(fault.same_line, 1);
}

/* However the text ends, nothing after it is read. */
static void every_beginning_of_a_text_is_read(void **state)
{
    static const char text[] = "/a%20 /b 301\r\n/c?d https://e/ 308\n# f\n/%7a /y\n";

    for (size_t len = 0; len < sizeof(text); len++) {
        (void)read_text(text, len);
        drop(state);
    }
}

static void many_lines_are_found(void **state)
{
    enum { COUNT = 50000 };
    char *text = malloc(COUNT * 32), path[32], wanted[32];
    size_t len = 0;

    (void)state;
    assert_non_null(text);
    for (unsigned i = 0; i < COUNT; i++)
        len += (size_t)sprintf(text + len, "/old/%u /new/%u\n", i, i * 3);
    assert_int_equal(read_text(text, len), 0);
    for (unsigned i = 0; i < COUNT; i++) {
        (void)sprintf(path, "/old/%u", i);
        (void)sprintf(wanted, "/new/%u", i * 3);
        expect(path, NULL, wanted);
    }
    expect("/old/50000", NULL, NULL);
    free(text);
}

static void lines_are_bounded(void **state)
{
    const size_t len = MAP_LINES_MAX + 1;
    char *text = malloc(len);

    (void)state;
    assert_non_null(text);
    memset(text, '\n', len);
    assert_int_equal(read_text(text, len - 1), 0);
    drop(state);
    assert_int_equal(read_text(text, len), MK_E_INVALID);
    assert_int_equal(fault.line, MAP_LINES_MAX + 1);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(addresses_are_found, drop),
        cmocka_unit_test_teardown(a_line_with_the_query_comes_first, drop),
        cmocka_unit_test_teardown(statuses_are_kept, drop),
        cmocka_unit_test_teardown(an_empty_map_has_nothing, drop),
        cmocka_unit_test_teardown(the_same_address_is_refused, drop),
        cmocka_unit_test_teardown(every_beginning_of_a_text_is_read, drop),
        cmocka_unit_test_teardown(many_lines_are_found, drop),
        cmocka_unit_test_teardown(lines_are_bounded, drop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
