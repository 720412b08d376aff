/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/lru.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ENTRIES = 100 };

static struct lru_entry entries[ENTRIES];

static struct lru_entry *find(const struct lru *map, uint64_t hash)
{
    struct lru_entry *e = lru_first(map, hash);

    while (e && e->hash != hash)
        e = e->same;
    return e;
}

/* From the oldest to the newest, in both directions. */
static void expect_order(const struct lru *map, const char *wanted)
{
    char got[ENTRIES + 1] = "", back[ENTRIES + 1] = "";
    size_t n = 0, m = strlen(wanted);

    for (const struct lru_entry *e = map->oldest; e; e = e->newer)
        got[n++] = (char)('a' + (e - entries));
    assert_string_equal(got, wanted);
    for (const struct lru_entry *e = map->newest; e; e = e->older)
        back[--m] = (char)('a' + (e - entries));
    assert_int_equal(m, 0);
    assert_string_equal(back, wanted);
    assert_int_equal(map->count, strlen(wanted));
}

static void the_order_is_that_of_the_last_use(void **state)
{
    struct lru map;

    (void)state;
    assert_true(lru_init(&map, 2));
    expect_order(&map, "");
    for (int i = 0; i < 4; i++) {
        entries[i].hash = 7;
        lru_add(&map, &entries[i]);
    }
    expect_order(&map, "abcd");
    lru_use(&map, &entries[0]);
    lru_use(&map, &entries[2]);
    lru_use(&map, &entries[2]);
    expect_order(&map, "bdac");
    lru_remove(&map, &entries[3]);
    lru_remove(&map, &entries[1]);
    expect_order(&map, "ac");
    lru_remove(&map, &entries[2]);
    lru_use(&map, &entries[0]);
    expect_order(&map, "a");
    lru_remove(&map, &entries[0]);
    expect_order(&map, "");
    assert_null(lru_first(&map, 7));
    lru_fini(&map);
}

static void entries_are_found_however_many_there_are(void **state)
{
    struct lru map;

    (void)state;
    assert_true(lru_init(&map, 1));
    for (uint64_t i = 0; i < ENTRIES; i++) {
        entries[i].hash = i * 0x9e3779b97f4a7c15;
        lru_grow(&map);
        lru_add(&map, &entries[i]);
        for (uint64_t j = 0; j < ENTRIES; j++)
            assert_ptr_equal(find(&map, j * 0x9e3779b97f4a7c15), j <= i ? &entries[j] : NULL);
    }
    assert_int_equal(map.nbuckets, 128);
    for (size_t i = 0; i < ENTRIES; i += 2)
        lru_remove(&map, &entries[i]);
    for (size_t i = 0; i < ENTRIES; i++)
        assert_ptr_equal(find(&map, i * 0x9e3779b97f4a7c15), i % 2 ? &entries[i] : NULL);
    lru_fini(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_is_that_of_the_last_use),
        cmocka_unit_test(entries_are_found_however_many_there_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
